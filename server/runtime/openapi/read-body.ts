import type { RequestBody, RequestField } from "../../domain/http-request.ts";
import { isObject } from "../../lib/json.ts";
import { OperationRefused } from "./document-error.ts";
import type { Fields } from "./read-document.ts";
import { dereference, itemsIn, lookUp, membersIn, textIn } from "./references.ts";

/** A field of a body that becomes an argument. */
interface FoundField extends Omit<RequestField, "argument" | "name"> {
  name: string;
  required: boolean;
  /** Schema of its argument. */
  converted: Fields;
}

/** Body of an operation: fields that become arguments, or one argument. */
export interface FoundBody {
  type: RequestBody["type"];
  content_type?: string;
  required: boolean;
  /** Null: the body is one argument. */
  fields: FoundField[] | null;
  schema: Fields;
}

const fieldsMost = 400;
const mediaTypes: [RequestBody["type"], RegExp][] = [
  ["json", /^application\/json$/],
  ["json", /[/+]json$/],
  ["json", /^\*\/\*$/],
  ["form", /^application\/x-www-form-urlencoded$/],
  ["multipart", /^multipart\/(form-data|mixed)$/],
  ["text", /^text\/(?!xml)/],
  [
    "file",
    /^(application\/(octet-stream|zip|pdf|gzip|x-tar|x-gzip)|image\/|audio\/|video\/|application\/vnd\.(?!.*[+.]xml))/,
  ],
];

/** Reads the body of an operation; null if it has none. Converts its schema by `convert`. */
export function readBody(
  document: Fields,
  operation: Fields,
  convert: (schema: unknown) => Fields,
  note: (text: string) => void,
): FoundBody | null {
  if (!Object.hasOwn(operation, "requestBody") || operation.requestBody === null) return null;
  const body = dereference(document, operation.requestBody, "request body");
  const required = body.required === true;
  const contents = membersIn(body, "content").map(([type, media]): [string, Fields] => [
    type.split(";")[0]!.trim().toLowerCase(),
    isObject(media) ? media : {},
  ]);
  if (contents.length === 0) return null;
  for (const [type, pattern] of mediaTypes) {
    const found = contents.find(([name]) => pattern.test(name));
    if (found) return bodyOf(document, type, found, required, convert, note);
  }
  const names = contents.map(([name]) => name.slice(0, 64)).join(", ");
  if (required)
    throw new OperationRefused("body_unsupported", `Its body can be sent as ${names} only, which is not supported.`);
  note(`Not sent: the body, which can be sent as ${names} only.`);
  return null;
}

const usualTypes: Record<RequestBody["type"], string> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  text: "text/plain",
  file: "application/octet-stream",
};

function bodyOf(
  document: Fields,
  type: RequestBody["type"],
  [name, media]: [string, Fields],
  required: boolean,
  convert: (schema: unknown) => Fields,
  note: (text: string) => void,
): FoundBody | null {
  if (name === "*/*" && isBinary(document, media.schema))
    return { type: "file", required, fields: null, schema: fileSchema("") };
  const isNamed = name !== usualTypes[type] && name !== "*/*" && /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(name);
  const common = { type, required, ...(isNamed && type !== "multipart" && { content_type: name }) };
  if (type === "file") return { ...common, fields: null, schema: fileSchema("") };
  if (type === "text") return { ...common, fields: null, schema: { type: "string" } };
  const schema = convert(media.schema);
  if (type === "json") {
    const fields = canBeFields(schema, required) ? fieldsOf(schema, () => ({})) : null;
    if (fields && resolved(document, media.schema)?.additionalProperties === true)
      note("Not sent: fields of its body that the document does not name.");
    return { ...common, fields, schema };
  }
  const encodings = new Map(membersIn(media, "encoding"));
  const raw = propertiesOf(document, media.schema, new Set());
  const fields = fieldsOf(schema, (field) => {
    const encoding = encodings.get(field);
    return type === "multipart"
      ? fileField(document, raw.get(field), isObject(encoding) ? textIn(encoding, "contentType") : "")
      : styleOf(encoding, note);
  });
  if (fields.length === 0) return null; // An empty form.
  if (fields.length > fieldsMost)
    throw new OperationRefused("body_unsupported", `The form of its body has more than ${fieldsMost} fields.`);
  return { ...common, fields, schema };
}

/** True if the fields of an object can be arguments: they and no others, which are required if the body is. */
function canBeFields(schema: Fields, required: boolean): boolean {
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  if (properties.length === 0 || properties.length > fieldsMost) return false;
  if (["anyOf", "allOf", "enum", "const"].some((keyword) => keyword in schema) || isObject(schema.additionalProperties))
    return false;
  if ([schema.type].flat().includes("null")) return false;
  return required || !Array.isArray(schema.required) || schema.required.length === 0;
}

function fieldsOf(schema: Fields, choicesOf: (name: string) => Partial<FoundField>): FoundField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return membersIn(schema, "properties").map(([name, converted]) => ({
    name,
    required: required.includes(name),
    converted: isObject(converted) ? converted : {},
    ...choicesOf(name),
  }));
}

function styleOf(encoding: unknown, note: (text: string) => void): Partial<FoundField> {
  if (!isObject(encoding)) return {};
  const style = textIn(encoding, "style");
  if (style === "") return {};
  if (style !== "form" && style !== "deepObject" && style !== "spaceDelimited" && style !== "pipeDelimited") {
    note(`Not sent as it says: a field in the style ${style.slice(0, 64)}.`);
    return {};
  }
  return { style, ...(typeof encoding.explode === "boolean" && { explode: encoding.explode }) };
}

/** A field that is a file, or a list of files: its argument is the id of each. */
function fileField(document: Fields, schema: unknown, contentType: string): Partial<FoundField> {
  if (isBinary(document, schema)) return { file: true, converted: fileSchema(descriptionOf(document, schema)) };
  const node = resolved(document, schema);
  if (node && node.type === "array" && isBinary(document, node.items))
    return {
      file: true,
      converted: { type: "array", items: fileSchema(""), description: descriptionOf(document, schema) },
    };
  const isFile = /^(image|audio|video)\/|octet-stream|\*\/\*/.test(contentType);
  return isFile ? { file: true, converted: fileSchema(descriptionOf(document, schema)) } : {};
}

function fileSchema(description: string): Fields {
  const text = "The id of a file of this run: file_….";
  return { type: "string", description: description === "" ? text : `${description.slice(0, 300)} ${text}` };
}

const descriptionOf = (document: Fields, schema: unknown): string =>
  textIn(resolved(document, schema) ?? {}, "description");

function resolved(document: Fields, schema: unknown): Fields | null {
  let found = schema;
  for (let count = 0; isObject(found) && "$ref" in found && count < 32; count++) found = lookUp(document, found.$ref);
  return isObject(found) ? found : null;
}

function isBinary(document: Fields, schema: unknown): boolean {
  const node = resolved(document, schema);
  if (!node || ![node.type ?? "string"].flat().includes("string")) return false;
  if (node.format === "binary") return true;
  // In 3.1, bytes have a media type and no encoding.
  return (
    typeof node.contentMediaType === "string" &&
    node.contentEncoding === undefined &&
    /octet-stream|^(image|audio|video)\//.test(node.contentMediaType)
  );
}

/** Properties of a schema as the document has them, by name. */
function propertiesOf(document: Fields, schema: unknown, seen: Set<unknown>): Map<string, unknown> {
  const node = resolved(document, schema);
  if (!node || seen.has(node)) return new Map();
  seen.add(node);
  return new Map([
    ...itemsIn(node, "allOf").flatMap((part) => [...propertiesOf(document, part, seen)]),
    ...membersIn(node, "properties"),
  ]);
}
