import { isExactNumber } from "../../../server/lib/exact-numbers.ts";

/** A call of a client's method, as the API's documentation and the dashboard show it. */
interface ClientCall {
  /** `agents.versions.list` */
  operationId: string;
  /** The parts of its path, in their order. */
  ids: readonly string[];
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** The events of a run are read while they come. */
  stream?: boolean;
}

/** How a client is made: from its environment, or as it stands here. */
interface ClientSetup {
  origin?: string;
  /** The certificate of a server that signed its own. */
  caFile?: string | null;
}

/** `rotate_secret` → `rotateSecret` */
export const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `from` → `from_`, `created_at[gt]` → `created_at_gt`, `If-Match` → `if_match`. */
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
/** What stands at the end of a path and is done to the thing before it. */
const deeds =
  /^(cancel|capsule|content|count|diff|export|fork|redeliver|refresh|replay|retry|rotate|rotate_secret|search|submit_tool_outputs|test|trigger)$/;
/** What is called otherwise than the rest. */
const special: Record<string, string> = { "DELETE api_keys": "revoke", "POST traces": "import" };
/** Actions on the whole collection, where other paths have an id: `/runs/count`. */
const ofAll = /^(count|export)$/;
/** Of what there is only one. */
const single = /^(me|usage|analytics|data|chat_page|openapi\.json)$/;

/** The call that a request is. A path has names of resources and ids by turns, but behind what there is one of. */
export function callOf(method: keyof typeof verbs, path: string): Omit<ClientCall, "body"> {
  const [address = "", search = ""] = path.split("?");
  const parts = address.replace(/^\/v1\//, "").split("/");
  const [names, ids]: [string[], string[]] = [[], []];
  let isName = true;
  for (const part of parts) {
    if (isName || ofAll.test(part)) names.push(part);
    else ids.push(decodeURIComponent(part));
    isName = ofAll.test(part) || !isName || single.test(part);
  }
  const last = names.at(-1)!;
  const isDeed = names.length > 1 && deeds.test(last);
  if (isDeed) names.pop();
  const isList = method === "GET" && !isName;
  const verb = isDeed ? last : isList ? "list" : (special[`${method} ${names.join(".")}`] ?? verbs[method]);
  const operationId = [...names.map((name) => name.replace(/\.json$/, "")), verb].join(".");
  return { operationId, ids, ...(search !== "" && { query: Object.fromEntries(new URLSearchParams(search)) }) };
}

const returnsOf = ({ operationId }: ClientCall): "list" | "bytes" | "object" =>
  operationId.endsWith(".list") ? "list" : /\.(content|capsule)$/.test(operationId) ? "bytes" : "object";

/** The calls as a program for the TypeScript client; each stands under its note. */
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
    ...calls.map((call) => noted("//", call.note, typescriptCall(call))),
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

/** The calls as a program for the Python client; each stands under its note. */
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
    ...calls.map((call) => noted("#", call.note, pythonCall(call))),
  ].join("\n");
}

function pythonCall(call: ClientCall): string {
  const { operationId, ids, query, stream } = call;
  const named = { ...(sentBody(call) as object | undefined), ...query };
  const fields = Object.entries(named).filter(([, value]) => value !== undefined);
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

const noted = (mark: string, note: string | undefined, code: string): string =>
  note === undefined ? code : `\n${mark} ${note}\n${code}`;

/** What returns events is a method of its own. */
function sentBody({ body }: ClientCall): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { stream: _, ...fields } = body as Record<string, unknown>;
  return fields;
}

/** JSON as TypeScript writes it: an integer that no number can hold is a `bigint`. */
const typescriptLiteral = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (isExactNumber(one) ? `\0${one.rawJSON}` : one), 2)
    .replace(/"\\u0000(-?\d+)"/g, "$1n")
    .replace(/"\\u0000([^"]+)"/g, "$1")
    .replace(/^(\s*)"([a-z_]\w*)":/gim, "$1$2:");

/** JSON's escapes are Python's too, but for characters that JSON lets stand and Python ends a line at none of. */
function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object" || isExactNumber(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`).join(", ")}}`;
}
