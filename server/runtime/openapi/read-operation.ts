import {
  type HttpMethod,
  httpMethods,
  type RequestBody,
  type RequestField,
  type RequestMapping,
  type RequestParameter,
} from "../../domain/http-request.ts";
import type { PlannedTool } from "../../domain/openapi-import.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { createArgumentNames } from "./argument-names.ts";
import { createSchemaConverter, type Detail, SchemaTooLarge } from "./convert-schema.ts";
import { cutText } from "./cut-text.ts";
import { OperationRefused } from "./document-error.ts";
import { type FoundBody, readBody } from "./read-body.ts";
import type { Fields } from "./read-document.ts";
import type { FoundParameter } from "./read-parameters.ts";
import { dereference, membersIn, textIn } from "./references.ts";

/** One operation of a document, with what it inherits. */
interface FoundOperation {
  document: Fields;
  fields: Fields;
  method: HttpMethod;
  path: string;
  server: string;
  parameters: readonly FoundParameter[];
}

/** Most bytes of a tool's parameters: a model reads them in every request. A tool itself may have twice as many. */
const schemaBytes = 32 * 1024;
const descriptionLength = 1024;
/** The first that fits is taken. */
const details: Detail[] = [
  { levels: 12, text: 1000 },
  { levels: 8, text: 400 },
  { levels: 6, text: 250 },
  { levels: 4, text: 160 },
  { levels: 3, text: 120 },
  { levels: 2, text: 80 },
  { levels: 1, text: 60 },
  { levels: 1, text: 0 },
  { levels: 0, text: 0 },
];

type Built = Pick<PlannedTool, "parameters" | "request" | "url">;

/** Makes the tool of an operation, with as much of its schemas as a tool may have. Throws `OperationRefused`. */
export function toolOf(operation: FoundOperation, name: string, note: (text: string) => void): PlannedTool {
  const { document, fields, method, path } = operation;
  for (const detail of details) {
    const notes: string[] = [];
    const built = attempt(operation, detail, (text) => void notes.push(text));
    if (!built) continue;
    for (const text of notes) note(text);
    if (detail !== details[0]) note(`Simplified: ${detail.levels} levels of its schema are kept.`);
    const description = descriptionOf(fields) || `${method} ${path}`;
    return { name, description, method, ...built, response: responseOf(document, fields) };
  }
  throw new OperationRefused("schema_too_large", "Its parameters and its body are too large for the schema of a tool.");
}

/** Returns null if the schema is too large with this detail. */
function attempt(operation: FoundOperation, detail: Detail, note: (text: string) => void): Built | null {
  try {
    const built = build(operation, detail, note);
    if (Buffer.byteLength(JSON.stringify(built.parameters)) > schemaBytes) return null;
    return checkSchema(built.parameters).length === 0 ? built : null;
  } catch (error) {
    if (error instanceof SchemaTooLarge) return null;
    throw error;
  }
}

function build(operation: FoundOperation, detail: Detail, note: (text: string) => void): Built {
  const { document } = operation;
  const { convert } = createSchemaConverter(document, detail, note);
  const nameOf = createArgumentNames();
  const properties: Fields = {};
  const required: string[] = [];
  const add = (argument: string, schema: Fields, isRequired: boolean): void => {
    properties[argument] = schema;
    if (isRequired) required.push(argument);
  };
  const names = new Map<string, string>();
  const parameters = operation.parameters.map((found): RequestParameter => {
    const argument = nameOf(found.name, found.in);
    const text = cutText(found.description, detail.text || 1);
    add(
      argument,
      { ...convert(found.schema), ...(found.description.trim() && detail.text > 0 && { description: text }) },
      found.required,
    );
    if (found.in === "path") names.set(found.name, argument);
    const { name, in: place, style, explode, allow_reserved } = found;
    return { argument, ...(argument !== name && { name }), in: place, ...present({ style, explode, allow_reserved }) };
  });
  const url = `${operation.server}${pathOf(operation.path.split("#", 1)[0]!, names)}`;
  const found = bodyOf(operation, convert, note);
  const request: RequestMapping = { parameters, body: found && mapBody(found, nameOf, add) };
  return { url, parameters: closed(properties, required), request };
}

/** Body of the operation. Servers ignore that of a GET, so that only a required one matters. */
function bodyOf(
  { document, fields, method }: FoundOperation,
  convert: (schema: unknown) => Fields,
  note: (text: string) => void,
): FoundBody | null {
  if (method !== "GET" && method !== "HEAD") return readBody(document, fields, convert, note);
  const found = readBody(
    document,
    fields,
    () => ({}),
    () => {},
  );
  if (found?.required)
    throw new OperationRefused("body_unsupported", `A ${method} request with a body is not supported.`);
  if (found) note(`Not sent: the body of a ${method} request.`);
  return null;
}

const closed = (properties: Fields, required: string[]): Fields => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

function mapBody(
  { type, content_type, required, fields, schema }: FoundBody,
  nameOf: (name: string, place: string) => string,
  add: (argument: string, schema: Fields, isRequired: boolean) => void,
): RequestBody {
  const common = { type, ...present({ content_type }) };
  if (!fields) {
    const argument = nameOf(type === "file" ? "file" : "body", "body");
    add(argument, schema, required);
    return { ...common, argument };
  }
  const mapped = fields.map(({ name, required: isRequired, converted, style, explode, file }): RequestField => {
    const argument = nameOf(name, "body");
    add(argument, converted, isRequired && required);
    return { argument, ...(argument !== name && { name }), ...present({ style, explode, file }) };
  });
  return { ...common, fields: mapped };
}

/** Leaves out what is undefined. */
const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** Returns the path with the names of arguments in its braces. */
function pathOf(path: string, names: ReadonlyMap<string, string>): string {
  return path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => `{${names.get(name)}}`);
}

/** Names in the braces of a path. Throws for a path that no request could have. */
export function namesInPath(whole: string): string[] {
  // Some documents tell operations of one path apart by what is behind a #, which is never sent.
  const path = whole.split("#", 1)[0]!;
  const refuse = (message: string): never => {
    throw new OperationRefused("path_invalid", message);
  };
  if (path.length > 1000) refuse("Its path is longer than 1000 characters.");
  if (/[\s\\]/.test(path)) refuse("Its path has a blank or a backslash.");
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  if (/[{}]/.test(path.replaceAll(/\{[^{}]*\}/g, "")) || names.includes(""))
    refuse("Its path has braces that do not match, or are empty.");
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) refuse("Its path has the segment . or ..");
  return [...new Set(names)];
}

function descriptionOf(fields: Fields): string {
  const [summary, description] = [textIn(fields, "summary").trim(), textIn(fields, "description").trim()];
  const both = description.startsWith(summary)
    ? description
    : [summary, description].filter((text) => text !== "").join("\n\n");
  // Agents fill in what is in double braces.
  return cutText(both, descriptionLength - 64).replaceAll(/\{(?=\{)/g, "{ ");
}

/** `json` if every success has JSON. */
function responseOf(document: Fields, fields: Fields): PlannedTool["response"] {
  const successes = membersIn(fields, "responses").filter(([status]) => /^(2\d\d|2XX|default)$/i.test(status));
  const types = successes.flatMap(([, value]) => {
    try {
      return membersIn(dereference(document, value, "response"), "content").map(([type]) => type);
    } catch {
      return ["unknown"];
    }
  });
  return types.length > 0 && types.every((type) => /[/+]json/i.test(type)) ? "json" : "text";
}

const otherMethods = ["OPTIONS", "TRACE", "QUERY"];

/** True for members of a path that are operations. */
export const isMethod = (name: string): boolean =>
  isSupported(name.toUpperCase()) || otherMethods.includes(name.toUpperCase());

export const isSupported = (method: string): method is HttpMethod => httpMethods.includes(method as HttpMethod);
