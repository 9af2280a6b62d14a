import { type Method, methodsOf, nameOf, type OpenApi, type Schema } from "./openapi.ts";

/** The files of the Python client that are made of the API's document, by their names in the package. */
export function pythonOf(document: OpenApi): Record<string, string> {
  return {
    "types.py": typesOf(document),
    "_async_resources.py": resourcesOf(document, true),
    "_resources.py": resourcesOf(document, false),
  };
}

/** The client that blocks, made of the one that awaits. */
export const withoutAsync = (source: string): string =>
  source
    .replace(/^"""[\s\S]*?"""/, '"""The client that blocks."""')
    .replaceAll("import asyncio\nimport inspect\n", "")
    .replaceAll("await asyncio.sleep", "time.sleep")
    .replace(/async def _resolved[\s\S]*?\n\n\n/, "")
    .replace(/await _resolved\(((?:[^()]|\([^()]*\))*)\)/g, "$1")
    .replace(/\basync (def|for|with)\b/g, "$1")
    .replace(/\bawait /g, "")
    .replace(/\bAsync(?=[A-Z])/g, "")
    .replaceAll("httpx.Client", "httpx.Client")
    .replaceAll("AsyncIterator", "Iterator")
    .replaceAll("__aiter__", "__iter__")
    .replaceAll("__aenter__", "__enter__")
    .replaceAll("__aexit__", "__exit__")
    .replaceAll(/\.a(close|read|iter_bytes)\(/g, ".$1(");

function typesOf({ info, components: { schemas } }: OpenApi): string {
  const classes = Object.entries(schemas)
    .filter(([, schema]) => schema.properties && !schema.anyOf)
    .map(([name, schema]) => classOf(name, schema));
  const unions = Object.entries(schemas)
    .filter(([, schema]) => !schema.properties || schema.anyOf)
    .map(([name, schema]) => `${name} = ${typeOf(schema)}\n`);
  return `"""The types of the API. Made of the OpenAPI document of runnel ${info.version}."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from ._object import Object

${classes.join("\n\n")}

${unions.join("\n")}`;
}

function classOf(name: string, { description, properties = {}, required = [] }: Schema): string {
  const fields = Object.entries(properties)
    .filter(([field]) => /^[a-z_]\w*$/.test(field) && !keywords.has(field) && !methodsOfDict.has(field))
    .map(([field, its]) => {
      const doc = its.description ? `    #: ${its.description}\n` : "";
      return `${doc}    ${field}: ${required.includes(field) ? typeOf(its) : `Optional[${typeOf(its)}]`}\n`;
    });
  return `class ${name}(Object):\n    """${description ?? `${name}, as the API returns it.`}"""\n\n${fields.join("")}${fields.length === 0 ? "    pass\n" : ""}`;
}

function typeOf(schema: Schema): string {
  const { $ref, type, items, anyOf, oneOf, const: only, enum: values } = schema;
  if ($ref) return `"${nameOf($ref)}"`;
  if (only !== undefined) return literal([only]);
  if (values) return literal(values);
  const choices = anyOf ?? oneOf;
  if (choices) return `Union[${[...new Set(choices.map(typeOf))].join(", ")}]`;
  if (Array.isArray(type)) return `Union[${type.map((one) => typeOf({ ...schema, type: one })).join(", ")}]`;
  if (type === "array") return `List[${items ? typeOf(items) : "Any"}]`;
  if (type === "object") return "Dict[str, Any]";
  return (
    ({ string: "str", integer: "int", number: "float", boolean: "bool", null: "None" } as Record<string, string>)[
      type ?? ""
    ] ?? "Any"
  );
}

const literal = (values: readonly unknown[]): string =>
  `Literal[${values.map((value) => (typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value))).join(", ")}]`;

function resourcesOf(document: OpenApi, isAsync: boolean): string {
  const prefix = isAsync ? "Async" : "";
  const module = isAsync ? "_async_client" : "_client";
  const tree = new Map<string, Method[]>();
  for (const method of methodsOf(document))
    for (let depth = method.resource.length; depth >= 1; depth--) {
      const path = method.resource.slice(0, depth).join(".");
      tree.set(path, [...(tree.get(path) ?? []), ...(depth === method.resource.length ? [method] : [])]);
    }
  // A class stands below those that it has within.
  const paths = [...tree.keys()].sort((one, other) => other.split(".").length - one.split(".").length);
  const within = (parent: string) => paths.filter((path) => path.split(".").slice(0, -1).join(".") === parent);
  const made = (parent: string, client: string) =>
    within(parent).map((path) => `        self.${path.split(".").at(-1)} = ${prefix}${className(path)}(${client})\n`);
  const classes = paths.map((path) => {
    const base = path === "runs" ? `${prefix}RunsBase` : path === "files" ? `${prefix}FilesBase` : "";
    const verify =
      path === "webhooks"
        ? `
    @staticmethod
    def verify(body: Union[str, bytes], headers: Mapping[str, str], secret: str) -> types.WebhookEvent:
        """The event that was received; raises ${"``"}WebhookVerificationError${"``"} when it was not signed with this secret."""
        return _verify(body, headers, secret)
`
        : "";
    return `class ${prefix}${className(path)}${base ? `(${base})` : ""}:
    def __init__(self, client: ${prefix}Client) -> None:
${base ? "        super().__init__(client)\n" : "        self._client = client\n"}${made(path, "client").join("")}${verify}${tree
  .get(path)!
  .map((method) => methodOf(method, document, isAsync))
  .join("")}`;
  });
  return `"""The resources of the API. Made of the OpenAPI document of runnel ${document.info.version}."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Union

from . import types
from .${module} import ${prefix}Client, ${prefix}FilesBase, ${prefix}Pager, ${prefix}RunsBase, at
from ._object import NOT_GIVEN, NotGiven, given
from ._webhooks import verify as _verify

${classes.join("\n\n")}

class ${prefix}Runnel(${prefix}Client):
    """The API of a runnel server."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
${made("", "self").join("")}`;
}

function methodOf(method: Method, { components: { schemas } }: OpenApi, isAsync: boolean): string {
  const { name, summary, verb, path, inPath, query, body, returns } = method;
  const schema = body ? schemas[body.name] : undefined;
  const required = schema?.required ?? [];
  const fields = Object.entries(schema?.properties ?? {})
    .filter(([field]) => field !== "stream") // What returns events is \`runs.stream\`.
    .sort(([one], [other]) => Number(required.includes(other)) - Number(required.includes(one)));
  const args = [
    ...inPath.map((one) => `${safe(one.name)}: Union[str, int]`),
    "*",
    ...fields.map(([field, its]) =>
      required.includes(field)
        ? `${safe(field)}: ${argOf(its)}`
        : `${safe(field)}: Union[${argOf(its)}, NotGiven] = NOT_GIVEN`,
    ),
    ...query.map((one) => `${safe(one.name)}: Union[${argOf(one.schema)}, NotGiven] = NOT_GIVEN`),
    ...(verb === "POST" ? ["idempotency_key: Optional[str] = None"] : []),
    "timeout: Optional[float] = None",
    "max_retries: Optional[int] = None",
  ];
  const url = `f"${path.replace(/\{(\w+)\}/g, (_, name) => `{at(${safe(name)})}`)}"`.replace(/^f"([^{]*)"$/, '"$1"');
  const options = [
    "timeout=timeout",
    "max_retries=max_retries",
    ...(verb === "POST" ? ["idempotency_key=idempotency_key"] : []),
  ];
  const queryArg =
    query.length > 0 ? `{${query.map((one) => `${JSON.stringify(one.name)}: ${safe(one.name)}`).join(", ")}}` : null;
  const filtered = queryArg
    ? `{name: value for name, value in ${queryArg}.items() if not isinstance(value, NotGiven)}`
    : "{}";
  const isList = Boolean(returns?.items) && verb === "GET";
  const call = isAsync ? "await " : "";
  const parts = [
    ...(queryArg ? [`query=${filtered}`] : []),
    ...(schema ? [`body=given(${fields.map(([field]) => `${keywordOf(field)}`).join(", ")})`] : []),
    ...options,
  ].join(", ");
  const prefix = isAsync ? "Async" : "";
  const lines = isList
    ? [`return ${prefix}Pager(self._client, ${url}, ${filtered}, {"timeout": timeout, "max_retries": max_retries})`]
    : returns
      ? [`return ${call}self._client.json("${verb}", ${url}, ${parts})`]
      : [`return ${call}self._client.content("${verb}", ${url}, ${parts})`];
  const result = isList
    ? `${prefix}Pager[types.${returns!.items}]`
    : returns
      ? returns.name
        ? `types.${returns.name}`
        : "Any"
      : "bytes";
  return `
    ${isAsync && !isList ? "async " : ""}def ${safe(name)}(
        self,
${args.map((arg) => `        ${arg},\n`).join("")}    ) -> ${result}:
        """${summary}."""
${lines.map((line) => `        ${line}\n`).join("")}`;
}

/** The type of an argument: objects are given as plain dicts. */
function argOf(schema: Schema): string {
  const { $ref, type, items, anyOf, oneOf } = schema;
  if ($ref) return "Any";
  const choices = anyOf ?? oneOf;
  if (choices) return `Union[${[...new Set(choices.map(argOf))].join(", ")}]`;
  if (Array.isArray(type)) return `Union[${type.map((one) => argOf({ ...schema, type: one })).join(", ")}]`;
  if (type === "array") return `List[${items ? argOf(items) : "Any"}]`;
  return typeOf(schema);
}

/** `from` → `from_`, `created_at[gt]` → `created_at_gt`. */
export function safe(name: string): string {
  const word = name.replace(/\[(\w+)\]/g, "_$1");
  return keywords.has(word) ? `${word}_` : word;
}

const keywordOf = (field: string): string =>
  keywords.has(field) ? `**{"${field}": ${safe(field)}}` : `${field}=${field}`;

const keywords = new Set([
  "from",
  "import",
  "class",
  "def",
  "global",
  "in",
  "is",
  "not",
  "pass",
  "with",
  "async",
  "await",
]);

/** A field of such a name is there in brackets only. */
const methodsOfDict = new Set(["clear", "copy", "get", "items", "keys", "pop", "update", "values"]);

const className = (path: string): string =>
  `${path
    .split(/[._]/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("")}Resource`;
