import { camel } from "../../dashboard/src/lib/client-code.ts";
import { type Method, methodsOf, nameOf, type OpenApi, type Parameter, type Schema } from "./openapi.ts";

/** Returns `index.ts` of the TypeScript client: the types of the API, a class for each resource, and the client. */
export function typescriptOf(document: OpenApi): string {
  const methods = methodsOf(document);
  const tree = treeOf(methods);
  const head = [
    `// Made of the OpenAPI document of runnel ${document.info.version}.`,
    'import { Client, type RequestOptions, withHeaders } from "./client.ts";',
    'import { FilesBase } from "./files.ts";',
    'import { List } from "./list.ts";',
    'import { RunsBase } from "./runs.ts";',
    'import type { FunctionTool } from "./tool.ts";',
    'import { ToolsBase } from "./tools.ts";',
    'import { verifyWebhook } from "./webhook-signature.ts";',
    "",
    'export type { ClientOptions, Fetch, RequestOptions } from "./client.ts";',
    'export * from "./errors.ts";',
    'export { List, type Page } from "./list.ts";',
    'export { type FollowOptions, RunStream, type StreamOptions } from "./run-stream.ts";',
    'export type { FileContent } from "./files.ts";',
    'export type { LoopOptions } from "./runs.ts";',
    'export type { JsonSchema, StandardSchema } from "./schema.ts";',
    'export { type FunctionTool, tool } from "./tool.ts";',
    'export { ToolContent } from "./tool-calls.ts";',
    'export type { Authorize, Decide, Decision, PendingAuthorization, RequiredCall, ToolContext, ToolFunction, ToolFunctions, ToolPart } from "./tool-calls.ts";',
  ];
  return `${head.join("\n")}

${typesOf(document)}
${streamEventsOf(document)}
${methods.map(argumentTypesOf).join("")}
${[...tree].map(([path, own]) => classOf(path, own, tree)).join("\n")}
/** The API of a runnel server. */
${"export"} class Runnel extends Client {
${childrenOf("", tree)
  .map((path) => `  readonly ${lastOf(path)} = new ${className(path)}(this);`)
  .join("\n")}
}

const at = (value: string | number): string => encodeURIComponent(String(value));
const isBytes = (body: unknown): boolean => body instanceof Blob || body instanceof Uint8Array;
`;
}

/** Returns the methods of each resource by its dotted path, including resources that only have nested ones. */
function treeOf(methods: readonly Method[]): Map<string, Method[]> {
  const tree = new Map<string, Method[]>();
  for (const method of methods) {
    for (let depth = 1; depth <= method.resource.length; depth++) {
      const path = method.resource.slice(0, depth).join(".");
      tree.set(path, [...(tree.get(path) ?? []), ...(depth === method.resource.length ? [method] : [])]);
    }
  }
  return tree;
}

/** Base classes of resources with methods beside their routes. */
const bases: Record<string, string> = {
  runs: "RunsBase<Run, StreamEvent, CreateRunRequest>",
  files: "FilesBase<FileObject, CreateFileRequestInParts>",
  tools: "ToolsBase<ToolSync>",
};

/** Returns `verify` of a resource: it checks the signature of a received body. */
const verifying = (received: string, type: string): string => `
  /**
   * The ${received} that was received, when it was signed with this secret and is not older than five minutes.
   *
   * @param body What was received, to the byte: verify it before you parse it.
   * @param secret One secret, or several while you change it.
   * @throws {WebhookVerificationError}
   */
  verify(body: string | Uint8Array, headers: Parameters<typeof verifyWebhook>[1], secret: string | readonly string[]): Promise<${type}> {
    return verifyWebhook<${type}>(body, headers, secret);
  }
`;

const ownMethods: Record<string, string> = {
  webhooks: verifying("event", "WebhookEvent"),
  tools: verifying("call of a webhook tool", "ToolCallDelivery"),
};

function classOf(path: string, methods: readonly Method[], tree: Map<string, Method[]>): string {
  const base = bases[path];
  const inner = childrenOf(path, tree);
  const declared = inner.map((child) => `  readonly ${lastOf(child)}: ${className(child)};\n`);
  const made = inner.map((child) => `    this.${lastOf(child)} = new ${className(child)}(client);\n`);
  const start = base
    ? `  constructor(client: Client) {\n    super(client);\n${made.join("")}  }\n`
    : `  constructor(protected readonly client: Client) {${made.length > 0 ? `\n${made.join("")}  ` : ""}}\n`;
  return `class ${className(path)}${base ? ` extends ${base}` : ""} {\n${declared.join("")}${start}${ownMethods[path] ?? ""}${methods.map(methodOf).join("")}}\n`;
}

const childrenOf = (path: string, tree: Map<string, Method[]>): string[] =>
  [...tree.keys()].filter((key) => key.split(".").slice(0, -1).join(".") === path);

const lastOf = (path: string): string => camel(path.split(".").at(-1)!);

/** `tools.sync` takes functions, too. */
const functionsSynced = `
  /**
   * Creates a client tool for each function, or makes it as it is given, one after the other. A program that is run
   * twice changes nothing the second time.
   */
  sync(tools: readonly FunctionTool[], query?: ToolsSyncQuery, options?: RequestOptions): Promise<ToolSync[]>;
  sync(name: string | readonly FunctionTool[], ...rest: unknown[]): Promise<ToolSync | ToolSync[]> {
    if (typeof name !== "string") return this.syncAll(name, rest[0] as ToolsSyncQuery, rest[1] as RequestOptions);
    return this.syncOne(name, ...(rest as [SyncToolRequest?, ToolsSyncQuery?, RequestOptions?]));
  }
`;

function methodOf(method: Method): string {
  const made = routeMethodOf(method);
  if (method.resource.join(".") !== "tools" || method.name !== "sync") return made;
  const start = made.indexOf("  sync(");
  const [doc, own] = [made.slice(0, start), made.slice(start)];
  const signature = own.slice(0, own.indexOf(" {\n"));
  return `${doc}${signature};\n${functionsSynced}\n${own.replace("  sync(", "  protected syncOne(")}`;
}

function routeMethodOf(method: Method): string {
  const { name, summary, description, verb, path, inPath, query, headers, body, returns } = method;
  const url = `\`${path.replace(/\{(\w+)\}/g, (_, name) => `\${at(${camel(name)})}`)}\``;
  const args = [
    ...inPath.map((one) => `${camel(one.name)}: ${isNumber(one) ? "number | string" : "string"}`),
    ...(body ? [`body${body.required ? "" : "?"}: ${typeName(body.name)}${body.binary ? bytes : ""}`] : []),
    ...(query.length > 0 ? [`query${query.some(({ required }) => required) ? "" : "?"}: ${queryNameOf(method)}`] : []),
    `options?: RequestOptions${headers.length > 0 ? ` & ${optionsNameOf(method)}` : ""}`,
  ];
  const sent = [
    ...headers.map((one) => `${JSON.stringify(one.name.toLowerCase())}: options?.${headerName(one)}`),
    ...(body?.binary ? [`"content-type": isBytes(body) ? ${JSON.stringify(body.binary)} : undefined`] : []),
  ];
  const parts = [
    query.length > 0 && "query",
    body && (body.required ? "body" : "body: body ?? {}"),
    sent.length > 0 ? `...withHeaders(options, { ${sent.join(", ")} })` : "...options",
  ];
  const list = parts.filter(Boolean).join(", ");
  const answer =
    returns?.items && verb === "GET"
      ? `List<${typeName(returns.items)}> {\n    return new List(this.client, ${url}, ${query.length > 0 ? "query" : "undefined"}, options);`
      : returns
        ? `Promise<${typeOf(returns.schema)}${returns.instead ? ` | ${typeOf(returns.instead.schema)}` : ""}> {\n    return this.client.json("${verb}", ${url}, { ${list} });`
        : `Promise<Response> {\n    return this.client.send("${verb}", ${url}, { ${list} });`;
  const doc = docOf([
    `${summary}.`,
    ...(description ? ["", description] : []),
    ...inPath.map((one, index) => `${index === 0 ? "\n" : ""}@param ${camel(one.name)} ${one.description}`),
  ]);
  return `${overloadsOf(method, args, doc)}${returns?.instead ? "" : `\n${doc}`}  ${camel(name)}(${args.join(", ")}): ${answer}\n  }\n`;
}

/** Returns the overloads of a method by the value of a query parameter. */
function overloadsOf(method: Method, args: readonly string[], doc: string): string {
  const { name, returns } = method;
  if (!returns?.instead) return "";
  const { schema, parameter, word } = returns.instead;
  const asked = `query: ${queryNameOf(method)} & { ${parameter}: ${word === null ? "string" : JSON.stringify(word)} }`;
  const usual = `query?: Omit<${queryNameOf(method)}, ${JSON.stringify(parameter)}>`;
  const overload = (query: string, returned: Schema) =>
    `\n${doc}  ${camel(name)}(${args.map((arg) => (arg.startsWith("query") ? query : arg)).join(", ")}): Promise<${typeOf(returned)}>;\n`;
  return overload(asked, schema) + overload(usual, returns.schema);
}

const bytes = " | Blob | Uint8Array<ArrayBuffer>";

/** `If-Match` → `ifMatch` */
const headerName = ({ name }: Parameter): string => camel(name.toLowerCase().replaceAll("-", "_"));

/** `MemoryKeysSetOptions` */
const optionsNameOf = (method: Method): string => queryNameOf(method).replace(/Query$/, "Options");

/** Returns the comment on a method. */
const docOf = (lines: readonly string[]): string =>
  `  /**\n${lines
    .join("\n")
    .split("\n")
    .map((line) => `   * ${commentOf(line)}`.trimEnd())
    .join("\n")}\n   */\n`;

/** Escapes a text, so that it cannot end its comment. */
const commentOf = (text: string): string => text.replaceAll("*/", "*\\/");

/** True if a part of a path is a number, for which the client accepts a number or its text. */
const isNumber = ({ schema: { type, pattern } }: Parameter): boolean =>
  type === "integer" || /^\^\[1-9\]/.test(pattern ?? "");

/** `AgentsListQuery` */
const queryNameOf = ({ resource, name }: Method): string =>
  `${[...resource, name].map((word) => capital(camel(word))).join("")}Query`;

/** Returns the types of a method's query, and of its specific headers. */
function argumentTypesOf(method: Method): string {
  const address = [...method.resource.map(camel), camel(method.name)].join(".");
  const headers = method.headers.map((one) => ({ ...one, name: headerName(one) }));
  return (
    argumentTypeOf(queryNameOf(method), `What \`${address}\` takes besides.`, method.query) +
    argumentTypeOf(optionsNameOf(method), `Headers of \`${address}\`.`, headers)
  );
}

function argumentTypeOf(name: string, description: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "";
  const lines = parameters.map(({ name, required, schema, description }) =>
    fieldOf(name, required, typeOf(schema), description, ""),
  );
  return `/** ${description} */\nexport interface ${name} {\n${lines.join("\n")}\n}\n\n`;
}

/** New names for schemas that would hide global types. */
const renamed: Record<string, string> = { Event: "RunEvent", File: "FileObject" };
const typeName = (name: string): string => renamed[name] ?? name;

function typesOf({ components: { schemas } }: OpenApi): string {
  return Object.entries(schemas)
    .map(([name, schema]) => {
      const doc = schema.description ? `/** ${commentOf(schema.description)} */\n` : "";
      if (Object.keys(schema.properties ?? {}).length > 0 && !schema.anyOf)
        return `${doc}export interface ${typeName(name)} ${shapeOf(schema, "")}\n`;
      return `${doc}export type ${typeName(name)} = ${typeOf(schema)};\n`;
    })
    .join("\n");
}

/** Returns the events of a stream, by their names. */
function streamEventsOf({ components: { schemas } }: OpenApi): string {
  const { mapping = {} } = schemas.Event?.discriminator ?? {};
  const variants = Object.entries(mapping).map(([event, ref]) => {
    const data = schemas[nameOf(ref)]?.properties?.data;
    return `  | { event: ${JSON.stringify(event)}; id: string | null; data: ${data ? typeOf(data) : "unknown"} }`;
  });
  return `/** An event of a run's stream. */\nexport type StreamEvent =\n${variants.join("\n")};\n`;
}

function typeOf(schema: Schema): string {
  const { $ref, type, items, anyOf, oneOf, const: only, enum: values, properties, additionalProperties } = schema;
  if ($ref) return typeName(nameOf($ref));
  if (only !== undefined) return JSON.stringify(only);
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(" | ");
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(" | ");
  if (type === "array") return items ? `Array<${typeOf(items)}>` : "unknown[]";
  if (properties) return shapeOf(schema, "  ");
  if (type === "object")
    return `Record<string, ${typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0 ? typeOf(additionalProperties) : "unknown"}>`;
  return (
    (
      { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" } as Record<
        string,
        string
      >
    )[type ?? ""] ?? "unknown"
  );
}

function shapeOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const lines = Object.entries(properties).map(([name, its]) =>
    fieldOf(name, required.includes(name), typeOf(its), its.description, indent),
  );
  return lines.length > 0 ? `{\n${lines.join("\n")}\n${indent}}` : "Record<string, never>";
}

function fieldOf(
  name: string,
  required: boolean,
  type: string,
  description: string | undefined,
  indent: string,
): string {
  const doc = description ? `${indent}  /** ${commentOf(description)} */\n` : "";
  return `${doc}${indent}  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required ? "" : "?"}: ${type};`;
}

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);
const className = (path: string): string => `${path.split(".").map(camel).map(capital).join("")}Resource`;
