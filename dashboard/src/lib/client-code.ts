import { isExactNumber } from "../../../server/lib/exact-numbers.ts";

/** An SDK call, as documentation and dashboard show it. */
interface ClientCall {
  /** For example `agents.versions.list`. */
  operationId: string;
  /** Path parameters in order. */
  ids: readonly string[];
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** True if the run's events are streamed. */
  stream?: boolean;
}

/** Construction of the client: from the environment, or with these values. */
interface ClientSetup {
  origin?: string;
  /** Certificate file of a self-signed server. */
  caFile?: string | null;
}

/** Converts `rotate_secret` to `rotateSecret`. */
export const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Converts `from` to `from_`, `created_at[gt]` to `created_at_gt`, `If-Match` to `if_match`. */
export function pythonName(name: string): string {
  const word = name
    .replace(/\[(\w+)\]/g, "_$1")
    .replace(/^[A-Z][\w-]*$/, (header) => header.toLowerCase().replaceAll("-", "_"));
  return pythonKeywords.has(word) ? `${word}_` : word;
}

export const pythonKeywords: ReadonlySet<string> = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);

const verbs = { GET: "retrieve", POST: "create", PUT: "set", PATCH: "update", DELETE: "delete" } as const;
/** Last path segments that are actions on the preceding object. */
const actionSegments =
  /^(authorize|cancel|capsule|content|count|diff|export|fork|import|pause|redeliver|refresh|replay|resume|retry|rollback|rotate|rotate_secret|search|submit_tool_outputs|test|trigger)$/;
/** Exceptions from the naming rule. */
const methodExceptions: Record<string, string> = {
  "DELETE api_keys": "revoke",
  "POST traces": "import",
  "POST tools.catalog": "add",
};
/** Last path segments that are an action with another name. */
const renamedActions: Record<string, string> = { "POST runs.messages": "steer" };
/** Actions on a whole collection, at the place of an id: `/runs/count`. */
const collectionActions = /^(count|export|import)$/;
/** Collections within a collection, at the place of an id: `/tools/catalog`. */
const innerCollections = /^catalog$/;
/** Singleton resources. */
const singletonResources = /^(me|report|usage|analytics|data|chat_page|openapi\.json)$/;

/** Returns the SDK call of a request. Path segments alternate between resources and ids, except after a singleton. */
export function callOf(method: keyof typeof verbs, path: string): Omit<ClientCall, "body"> {
  const [address = "", search = ""] = path.split("?");
  const parts = address
    .replace(/^\/v1\//, "")
    .replace("/by-name/", "/")
    .split("/");
  const [names, ids]: [string[], string[]] = [[], []];
  let isName = true;
  for (const part of parts) {
    if (isName || collectionActions.test(part) || innerCollections.test(part)) names.push(part);
    else ids.push(decodeURIComponent(part));
    isName = !innerCollections.test(part) && (collectionActions.test(part) || !isName || singletonResources.test(part));
  }
  const last = names.at(-1)!;
  const renamed = renamedActions[`${method} ${names.join(".")}`];
  const isDeed = renamed !== undefined || (names.length > 1 && actionSegments.test(last));
  if (isDeed) names.pop();
  const isList = method === "GET" && !isName;
  const verb = isDeed
    ? (renamed ?? last)
    : isList
      ? "list"
      : address.includes("/by-name/")
        ? "sync"
        : (methodExceptions[`${method} ${names.join(".")}`] ?? verbs[method]);
  const operationId = [...names.map((name) => name.replace(/\.json$/, "")), verb].join(".");
  return { operationId, ids, ...(search !== "" && { query: Object.fromEntries(new URLSearchParams(search)) }) };
}

const returnsOf = ({ operationId }: ClientCall): "list" | "bytes" | "object" =>
  operationId.endsWith(".list") ? "list" : /\.(content|capsule)$/.test(operationId) ? "bytes" : "object";

/** Generates a TypeScript program of the calls, each below its note. */
export function typescriptCalls(
  calls: readonly (ClientCall & { note?: string })[],
  { origin, caFile }: ClientSetup = {},
): string {
  const options = [
    ...(origin === undefined ? [] : [`baseUrl: ${JSON.stringify(origin)}`, "apiKey: process.env.RUNNEL_API_KEY"]),
    ...(caFile ? [`ca: readFileSync(${JSON.stringify(caFile)}, "utf8")`] : []),
  ];
  return [
    ...(caFile ? ['import { readFileSync } from "node:fs";'] : []),
    'import { Runnel } from "runnel-sdk";\n',
    `const runnel = new Runnel(${options.length > 0 ? `{ ${options.join(", ")} }` : ""});`,
    ...calls.map((call) => withNotes("//", call.note, typescriptCall(call))),
  ].join("\n");
}

function typescriptCall(call: ClientCall): string {
  const { operationId, ids, query, stream } = call;
  const body = sentBody(call);
  const args = [
    ...ids.map((id) => JSON.stringify(id)),
    ...(body === undefined ? [] : [typescriptLiteral(body)]),
    ...(query ? [typescriptLiteral(query)] : []),
  ].join(", ");
  if (stream)
    return `for await (const { event, data } of runnel.runs.stream(${args})) console.dir({ event, data }, { depth: null });`;
  const text = `runnel.${operationId.split(".").map(camel).join(".")}(${args})`;
  return {
    list: `for await (const item of ${text}) console.dir(item, { depth: null });`,
    object: `console.dir(await ${text}, { depth: null });`,
    bytes: `const response = await ${text};\nconst bytes = await response.bytes();`,
  }[returnsOf(call)];
}

/** Generates a Python program of the calls, each below its note. */
export function pythonCalls(
  calls: readonly (ClientCall & { note?: string })[],
  { origin, caFile }: ClientSetup = {},
): string {
  const options = [
    ...(origin === undefined ? [] : [`base_url=${JSON.stringify(origin)}`, 'api_key=os.environ["RUNNEL_API_KEY"]']),
    ...(caFile ? [`ca=${JSON.stringify(caFile)}`] : []),
  ];
  return [
    ...(origin === undefined ? [] : ["import os\n"]),
    "from runnel_sdk import Runnel\n",
    `runnel = Runnel(${options.join(", ")})`,
    ...calls.map((call) => withNotes("#", call.note, pythonCall(call))),
  ].join("\n");
}

function pythonCall(call: ClientCall): string {
  const { operationId, ids, query, stream } = call;
  const allParameters = { ...(sentBody(call) as object | undefined), ...query };
  const fields = Object.entries(allParameters).filter(([, value]) => value !== undefined);
  const args = [
    ...ids.map((id) => JSON.stringify(id)),
    ...fields.map(([name, value]) => `${pythonName(name)}=${pythonLiteral(value)}`),
  ];
  if (stream) return `for event in runnel.runs.stream(${args.join(", ")}):\n    print(event.event, event.data)`;
  const text = `runnel.${operationId.split(".").map(pythonName).join(".")}(${args.join(", ")})`;
  return {
    list: `for item in ${text}:\n    print(item)`,
    object: `print(${text})`,
    bytes: `content = ${text}`,
  }[returnsOf(call)];
}

const withNotes = (mark: string, note: string | undefined, code: string): string =>
  note === undefined ? code : `\n${mark} ${note}\n${code}`;

/** Without `stream`: streaming is a method of its own. */
function sentBody({ body }: ClientCall): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { stream: _, ...fields } = body as Record<string, unknown>;
  return fields;
}

/** Formats JSON as TypeScript; an integer beyond number precision becomes a `bigint`. */
const typescriptLiteral = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (isExactNumber(one) ? `\0${one.rawJSON}` : one), 2)
    .replace(/"\\u0000(-?\d+)"/g, "$1n")
    .replace(/"\\u0000([^"]+)"/g, "$1")
    .replace(/^(\s*)"([a-z_]\w*)":/gim, "$1$2:");

/**
 * Formats JSON as Python. JSON's escapes are valid in Python, and the characters JSON leaves raw do not end a Python
 * string.
 */
function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object" || isExactNumber(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`).join(", ")}}`;
}
