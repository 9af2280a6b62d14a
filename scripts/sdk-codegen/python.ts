import { pythonKeywords, pythonName } from "../../dashboard/src/lib/client-code.ts";
import { type Method, methodsOf, nameOf, type OpenApi, type Parameter, type Schema } from "./openapi.ts";

/** Returns the generated files of the Python client, by their names in the package. */
export function pythonOf(document: OpenApi): Record<string, string> {
  const asynchronous = resourcesOf(document);
  return {
    "types.py": typesOf(document),
    "_version.py": `__version__ = ${JSON.stringify(document.info.version)}\n`,
    "_async_resources.py": asynchronous,
    "_resources.py": toSync(asynchronous),
  };
}

/** Converts an async module to a blocking one. */
export const toSync = (source: string): string =>
  source
    .replace(/^"""The client that awaits\.[\s\S]*?"""/, '"""The client that blocks. Made of `_async_client.py`."""')
    .replace(/AsyncGenerator\[(.+), None\]/g, "Generator[$1, None, None]")
    .replace(/\bAsync(?=[A-Z])/g, "")
    .replace(/\basync (def|for|with)\b/g, "$1")
    .replace(/\bawait /g, "")
    .replace(/\b__a(iter|enter|exit)__\b/g, "__$1__")
    .replace(/\.a(close|read|iter_bytes)\(/g, ".$1(")
    .replace(/\b_async_(client|resources)\b/g, "_$1")
    .replace(/\b_waiting\b/g, "_blocking");

function typesOf({ info, components: { schemas }, ...document }: OpenApi): string {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const received = ["Event", "WebhookEvent", "ToolCallDelivery"].filter((name) => schemas[name]).map(refTo);
  const returned = reachable([operations.map(({ responses }) => responses), received], schemas);
  const bodies = operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
  const sent = reachable(fieldsIn(bodies, schemas), schemas);
  const wanted = Object.entries(schemas).filter(([name]) => returned.has(name));
  const isClass = ({ properties, anyOf }: Schema) => properties !== undefined && !anyOf;
  const classes = wanted.filter(([, schema]) => isClass(schema)).map(([name, schema]) => classOf(name, schema));
  const unions = wanted
    .filter(([, schema]) => !isClass(schema))
    .map(([name, schema]) => `${name} = ${typeOf(schema, "return")}\n`);
  const { mapping = {} } = schemas.Event?.discriminator ?? {};
  const streamed = Object.entries(mapping).map(([event, ref]) => {
    const data = schemas[nameOf(ref)]?.properties?.data;
    return {
      name: nameOf(ref).replace(/Event$/, "StreamEvent"),
      properties: {
        event: { const: event, description: "The event's name." },
        id: { type: ["string", "null"], description: "Opaque: where the stream goes on after this event." },
        data: { ...data, description: "What happened." },
      },
    };
  });
  const events = streamed.map(({ name, properties }) =>
    classOf(name, {
      description: `\`${properties.event.const}\` in a stream.`,
      properties,
      required: Object.keys(properties),
    }),
  );
  const params = Object.entries(schemas).filter(([name]) => sent.has(name));
  const dicts = params
    .filter(([, schema]) => isClass(schema))
    .map(([name, schema]) => typedDictOf(paramName(name), schema, schemas));
  const choices = params
    .filter(([, { anyOf, oneOf }]) => anyOf ?? oneOf)
    .map(([name, schema]) => `${paramName(name)} = ${typeOf(schema, "field", schemas)}\n`);
  const names = [...wanted, ...events].map(([name]) => name);
  const twice = params
    .map(([name]) => paramName(name))
    .filter((name, at, all) => all.indexOf(name) !== at || names.includes(name));
  if (twice.length > 0) throw new Error(`The Python client would have two types called ${twice.join(", ")}.`);
  return `"""The types of the API. Made of the OpenAPI document of runnel ${info.version}.

What the API returns is a class. What requests take is a dict; its type ends with \`\`Param\`\`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from ._object import Object, Record

${[...classes, ...events].join("\n\n")}

${[...unions, ...dicts].join("\n\n")}

${choices.join("\n")}
#: An event of a run's stream.
StreamEvent = Union[
${streamed.map(({ name }) => `    "${name}",\n`).join("")}]
`;
}

const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schemas of bodies' fields: a method takes the fields of a body as its arguments. */
const fieldsIn = (bodies: readonly { schema: Schema }[], schemas: Record<string, Schema>): unknown =>
  bodies.map(({ schema }) => (schema.$ref ? schemas[nameOf(schema.$ref)] : schema));

/** Returns the names of the schemas that a part of the document uses, directly or indirectly. */
function reachable(part: unknown, schemas: Record<string, Schema>): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part ?? null).matchAll(/#\/components\/schemas\/(\w+)/g))
      if (!found.has(name!)) {
        found.add(name!);
        visit(schemas[name!]);
      }
  };
  visit(part);
  return found;
}

function classOf(name: string, { description, properties = {}, required = [] }: Schema): string {
  const fields = Object.entries(properties)
    .filter(([field]) => /^[a-z_]\w*$/.test(field) && !pythonKeywords.has(field) && !methodsOfDict.has(field))
    .map(([field, its]) => {
      const type = typeOf(its, "return");
      const optional = required.includes(field) || type.startsWith("Optional[") ? type : `Optional[${type}]`;
      return `${its.description ? `    #: ${oneLine(its.description)}\n` : ""}    ${field}: ${optional}\n`;
    });
  const text = description ? `    """${docText(description)}"""\n` : "";
  const body = [text, fields.join("")].filter(Boolean).join("\n");
  return `class ${name}(Record):\n${body || "    pass\n"}`;
}

/** `BudgetInput` → `BudgetParam`; a run's input is no run. */
const paramName = (name: string): string => `${name === "RunInput" ? name : name.replace(/Input$/, "")}Param`;

/**
 * Returns the type of a dict in requests. Its required fields are of a base class, because Python 3.10 cannot mark
 * single fields, and those that no class can have, such as `in`, are of another.
 */
function typedDictOf(
  name: string,
  { description, properties = {}, required = [] }: Schema,
  schemas: Record<string, Schema>,
): string {
  const fields = Object.entries(properties).map(([field, its]) => {
    const type = typeOf(its, "field", schemas);
    const doc = its.description ? `    #: ${oneLine(its.description)}\n` : "";
    return { field, type, line: `${doc}    ${field}: ${type}\n`, isRequired: required.includes(field) };
  });
  const isPlain = ({ field }: { field: string }) => /^[A-Za-z_]\w*$/.test(field) && !pythonKeywords.has(field);
  const own = fields.filter((each) => isPlain(each) && !each.isRequired);
  const needed = fields.filter((each) => isPlain(each) && each.isRequired);
  const parts: string[] = [];
  const bases: string[] = [];
  for (const isRequired of [true, false]) {
    const odd = fields.filter((each) => !isPlain(each) && each.isRequired === isRequired);
    if (odd.length === 0) continue;
    const base = `_${name}${isRequired ? "Needed" : "Other"}`;
    const entries = odd.map(({ field, type }) => `${JSON.stringify(field)}: ${JSON.stringify(type)}`).join(", ");
    parts.push(`${base} = TypedDict("${base}", {${entries}}${isRequired ? "" : ", total=False"})\n`);
    bases.push(base);
  }
  if (needed.length > 0 && own.length > 0) {
    parts.push(`class _${name}Required(TypedDict):\n${needed.map(({ line }) => line).join("")}`);
    bases.push(`_${name}Required`);
  }
  const fieldsOfClass = own.length > 0 ? own : needed;
  const total = own.length > 0 ? ", total=False" : "";
  const text = description ? `    """${docText(description)}"""\n\n` : "";
  const body = text + fieldsOfClass.map(({ line }) => line).join("");
  parts.push(`class ${name}(${bases.join(", ") || "TypedDict"}${total}):\n${body || "    pass\n"}`);
  return parts.join("\n\n");
}

/**
 * Returns the type of a response, of an argument, or of a field of an argument: in requests, objects of any fields are
 * mappings, and lists are sequences.
 */
function typeOf(schema: Schema, use: "return" | "argument" | "field", schemas: Record<string, Schema> = {}): string {
  const of = (its: Schema): string => typeOf(its, use, schemas);
  const { $ref, type, items, anyOf, oneOf, const: only, enum: values, additionalProperties: rest } = schema;
  if ($ref) {
    if (use === "return") return `"${nameOf($ref)}"`;
    const named = schemas[nameOf($ref)] ?? {};
    // A map has no name of its own.
    if (!named.properties && !named.anyOf && !named.oneOf) return of(named);
    return use === "field" ? `"${paramName(nameOf($ref))}"` : `types.${paramName(nameOf($ref))}`;
  }
  if (only !== undefined) return literal([only]);
  if (values) return literal(values);
  const choices = anyOf ?? oneOf;
  if (choices) return unionOf(choices.map(of));
  if (Array.isArray(type)) return unionOf(type.map((one) => of({ ...schema, type: one })));
  if (type === "array") return listOf(items ? of(items) : "Any", use);
  if (type === "object") {
    if (use !== "return") {
      const isTyped = typeof rest === "object" && Object.keys(rest).length > 0;
      return `Mapping[str, ${isTyped ? of(rest) : "Any"}]`;
    }
    return typeof rest === "object" && Object.keys(rest).length > 0 ? `Dict[str, ${of(rest)}]` : "Object";
  }
  return simple[type ?? ""] ?? "Any";
}

const simple: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

/** A list, because a str would be a Sequence[str] too. */
const listOf = (item: string, use: "return" | "argument" | "field"): string =>
  use !== "return" && item !== "str" ? `Sequence[${item}]` : `List[${item}]`;

function unionOf(types: readonly string[]): string {
  const others = [...new Set(types)].filter((type) => type !== "None");
  const union = others.length === 1 ? others[0]! : `Union[${others.join(", ")}]`;
  return types.includes("None") ? `Optional[${union}]` : union;
}

const literal = (values: readonly unknown[]): string => `Literal[${values.map(constantOf).join(", ")}]`;

const constantOf = (value: unknown): string =>
  value === null ? "None" : typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);

interface Argument {
  /** Name in Python. */
  name: string;
  /** Name in the request. */
  field: string;
  type: string;
  required: boolean;
  description: string;
}

/** Returns the resources of the async client. */
function resourcesOf(document: OpenApi): string {
  const tree = new Map<string, Method[]>();
  for (const method of methodsOf(document))
    for (let depth = method.resource.length; depth >= 1; depth--) {
      const path = method.resource.slice(0, depth).join(".");
      tree.set(path, [...(tree.get(path) ?? []), ...(depth === method.resource.length ? [method] : [])]);
    }
  // A class stands below its nested ones.
  const paths = [...tree.keys()].sort((one, other) => other.split(".").length - one.split(".").length);
  const made = (parent: string, client: string) =>
    paths
      .filter((path) => path.split(".").slice(0, -1).join(".") === parent)
      .map((path) => `        self.${path.split(".").at(-1)} = ${className(path)}(${client})\n`);
  const classes = paths.map((path) => {
    const own = handwrittenResources[path];
    return `class ${className(path)}${own?.base ? `(${own.base})` : ""}:
    def __init__(self, client: AsyncClient) -> None:
${own?.base ? "        super().__init__(client)\n" : "        self._client = client\n"}${made(path, "client").join("")}${own?.methods(document) ?? ""}${tree
  .get(path)!
  .map((method) => methodOf(method, document))
  .join("")}`;
  });
  return `"""The resources of the API. Made of the OpenAPI document of runnel ${document.info.version}."""

from __future__ import annotations

import os
from typing import IO, Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Type, TypeVar, Union, overload

import httpx

from . import types
from ._async_client import AsyncClient, AsyncFilesBase, AsyncPager, AsyncRunsBase, AsyncRunStream, AsyncToolsBase, at
from ._object import NOT_GIVEN, NotGiven, Object, given, texts
from ._output import TypedRun
from ._tool import Tool, Tools
from ._webhooks import Headers
from ._webhooks import verify as _verify

T = TypeVar("T")

${classes.join("\n\n")}

class AsyncRunnel(AsyncClient):
    """The API of a runnel server.

    ${"``base_url``"} is by default ${"``RUNNEL_URL``, else ``https://127.0.0.1:8443``; ``api_key`` is ``RUNNEL_API_KEY``; ``ca``"} is
    the path of the certificate of a server that signed its own, by default ${"``RUNNEL_CACERT``. ``timeout``"} is how many
    seconds one attempt may wait for the server, and ${"``max_retries``"} how often a request is sent again that may succeed
    later. ${"``headers``"} are sent with every request. ${"``http_client``"} is used instead of one of its own; it is not closed.
    """

    def __init__(
        self,
        *,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        ca: Optional[str] = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        headers: Optional[Mapping[str, str]] = None,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        super().__init__(
            base_url=base_url,
            api_key=api_key,
            ca=ca,
            timeout=timeout,
            max_retries=max_retries,
            headers=headers,
            http_client=http_client,
        )

    def _add_resources(self) -> None:
${made("", "self").join("")}`;
}

/** Methods of resources that have no route. */
const handwrittenResources: Record<string, { base?: string; methods(document: OpenApi): string }> = {
  runs: {
    base: "AsyncRunsBase",
    methods(document) {
      const fields = fieldsOf(document, "CreateRunRequest").filter(({ field }) => field !== "stream");
      const functions = "Union[Tools, Sequence[Union[Tool, Callable[..., Any], types.RequestToolParam]]]";
      const streamed = fields.map((each) => (each.field === "tools" ? { ...each, type: functions } : each));
      const others = fields.filter(({ field }) => !["agent_id", "input", "tools"].includes(field));
      const patience = {
        signature: "patience: float = 300.0",
        doc: "patience: how many seconds the server may be away before this gives up.",
      };
      const key = {
        signature: "idempotency_key: Optional[str] = None",
        doc: "idempotency_key: under which this starts one run, however often it is called.",
      };
      const slim = {
        signature: "slim: bool = False",
        doc: "slim: has less sent for each token. The events are the same, but for the time of a token: it is that of the first one.",
      };
      const stream = definition({
        name: "stream",
        isAsync: false,
        head: ["*", ...streamed.map(signatureOf)],
        more: [key, patience, silence, slim, extraHeaders],
        fields,
        result: "AsyncRunStream",
        doc: `Starts a run and returns its events, each once, over lost connections and restarts of the server.

        ${"``tools``"} may be typed functions: while you read the events, their calls are answered. Other calls are left to
        others.`,
        body: `        body = ${givenOf(fields)}
        return self._stream(
            body,
            idempotency_key=idempotency_key,
            patience=patience,
            timeout=timeout,
            slim=slim,
            headers=extra_headers,
        )
`,
      });
      const headWith = (schema: string): string[] => [
        "agent: Union[str, Mapping[str, Any]]",
        "input: types.RunInputParam",
        "*",
        `schema: ${schema}`,
        "tools: Optional[Tools] = None",
        "decide: Optional[Callable[[Any], Any]] = None",
        "authorize: Optional[Callable[[Any], Any]] = None",
        "on_event: Optional[Callable[[types.StreamEvent], Any]] = None",
        ...others.map(signatureOf),
      ];
      const run = definition({
        name: "run",
        isAsync: true,
        head: headWith("Any = None"),
        overloads: [
          { head: headWith("Type[T]"), result: "TypedRun[T]" },
          { head: headWith("Optional[Mapping[str, Any]] = None"), result: "types.Run" },
        ],
        more: [key, patience, extraHeaders],
        fields: others,
        result: "types.Run",
        doc: `Runs an agent, or the agent of an id, to its end and returns the run.

        ${"``tools``"} are typed functions, which are sent with the run, or functions by the names of client tools that the
        agent has. A function gets the call's arguments by their names; it returns the output, and the model reads what
        it raises as an error. ${"``decide``"} gets a call that needs an approval or has an unknown outcome, and returns ${'``{"decision": "approve"}`` or ``{"decision": "reject"}``'}.
        ${"``authorize``"} gets a consent that the run waits for: show its ${"``url``"} to the user; the run goes on by itself.
        ${"``on_event``"} sees every event. Raises ${"``RunFailedError``"} when the run fails or is cancelled, and
        ${"``ActionRequiredError``"} when it waits for an answer that is not given here. ${"``schema``"} is the type of this run's
        result, which ${"``output_json``"} then has: a TypedDict, with pydantic also a model or a dataclass, or a JSON Schema.`,
        body: `        agent_id = agent if isinstance(agent, str) else agent["id"]
        run: types.Run = await self._run(
            {"agent_id": agent_id, "input": input, **${givenOf(others).replaceAll("\n", "\n    ")}},
            tools=tools,
            decide=decide,
            authorize=authorize,
            on_event=on_event,
            idempotency_key=idempotency_key,
            patience=patience,
            headers=extra_headers,
            schema=schema,
        )
        return run
`,
      });
      return stream + run;
    },
  },
  files: {
    base: "AsyncFilesBase",
    methods(document) {
      const fields = fieldsOf(document, "CreateFileRequestInParts").filter(
        ({ field }) => field !== "file" && field !== "filename",
      );
      return definition({
        name: "upload",
        isAsync: true,
        head: [
          'file: Union[str, "os.PathLike[str]", bytes, IO[Any]]',
          "*",
          ...fields.map(signatureOf),
          "filename: Optional[str] = None",
        ],
        more: requestOptions("POST"),
        fields,
        result: "types.File",
        doc: "Uploads a file: of a path, of bytes with ``filename``, or of something that is open for reading.",
        body: `        file_: types.File = await self._upload(
            file,
            filename,
            ${givenOf(fields).replaceAll("\n", "\n    ")},
            idempotency_key=idempotency_key,
            headers=extra_headers,
            timeout=timeout,
            max_retries=max_retries,
        )
        return file_
`,
      });
    },
  },
  webhooks: { methods: () => verifying("event", "WebhookEvent") },
  tools: { base: "AsyncToolsBase", methods: () => verifying("call of a webhook tool", "ToolCallDelivery") },
};

/** Parts of `tools.sync` by which it takes functions, too. */
const functionsSynced = {
  type: "Sequence[Union[Tool, Callable[..., Any]]]",
  doc: "Create the tool of this name, or make it as it is given; or do so with a client tool for each function",
  body: `        if not isinstance(name, str):
            made: List[types.ToolSync] = await self._sync_all(
                name,
                query=given({"dry_run": dry_run}),
                headers=extra_headers,
                timeout=timeout,
                max_retries=max_retries,
            )
            return made
`,
};

/** Returns `verify` of a resource: it checks the signature of a received body. */
const verifying = (received: string, type: string): string => `
    @staticmethod
    def verify(body: Union[str, bytes], headers: Headers, secret: Union[str, Sequence[str]]) -> types.${type}:
        """The ${received} that was received: ${"``body``"} is what came, to the byte.

        ${"``secret``"} is one, or several while you change it. Raises ${"``WebhookVerificationError``"} when it was signed with
        none of them, or is older than five minutes.
        """
        received: types.${type} = _verify(body, headers, secret)
        return received
`;

const silence = {
  signature: "timeout: Optional[float] = None",
  doc: "timeout: how many seconds of silence are a lost connection, by default 20; the server says something every 5.",
};

function fieldsOf({ components: { schemas } }: OpenApi, name: string): Argument[] {
  const { properties = {}, required = [] } = schemas[name] ?? {};
  return Object.entries(properties)
    .map(([field, its]) => ({
      name: pythonName(field),
      field,
      type: typeOf(its, "argument", schemas),
      required: required.includes(field),
      description: its.description ?? "",
    }))
    .sort((one, other) => Number(other.required) - Number(one.required));
}

const signatureOf = ({ name, type, required }: Argument): string =>
  required ? `${name}: ${type}` : `${name}: Union[${type}, NotGiven] = NOT_GIVEN`;

/** `given({"name": name, …})` */
function givenOf(fields: readonly Argument[]): string {
  if (fields.length === 0) return "{}";
  return `given(\n            {\n${fields.map(({ field, name }) => `                ${JSON.stringify(field)}: ${name},\n`).join("")}            }\n        )`;
}

interface Definition {
  name: string;
  isAsync: boolean;
  /** Arguments as printed in the signature. */
  head: string[];
  more: { signature: string; doc: string }[];
  /** Arguments that the docstring describes. */
  fields: Argument[];
  result: string;
  /** Signatures by the value of a query parameter: the arguments with or without it, and the result. */
  overloads?: { head: string[]; result: string }[];
  doc: string;
  body: string;
}

function definition({ name, isAsync, head, more, fields, result, overloads = [], doc, body }: Definition): string {
  const names = [...head, ...more.map(({ signature }) => signature)].map((argument) => argument.split(":")[0]!);
  const twice = names.filter((one, at) => names.indexOf(one) !== at);
  if (twice.length > 0) throw new Error(`${name} of the Python client would take ${twice.join(", ")} twice.`);
  const described = fields.filter(({ description }) => description !== "");
  const lines = [
    ...described.map(({ name, description }) => `${name}: ${oneLine(description)}`),
    ...more.filter(({ doc }) => doc !== "").map(({ doc }) => doc),
  ];
  const args =
    lines.length > 0
      ? `\n\n        Args:\n${lines.map((line) => `            ${docText(line)}\n`).join("")}        `
      : "";
  const signature = (head: readonly string[], result: string): string => `    ${isAsync ? "async " : ""}def ${name}(
        self,
${[...head, ...more.map(({ signature }) => signature)].map((arg) => `        ${arg},\n`).join("")}    ) -> ${result}:`;
  return `${overloads.map(({ head, result }) => `\n    @overload\n${signature(head, result)} ...\n`).join("")}
${signature(head, result)}
        """${docText(doc)}${args}"""
${body}`;
}

const extraHeaders = { signature: "extra_headers: Optional[Mapping[str, str]] = None", doc: "" };

const requestOptions = (verb: string) => [
  ...(verb === "POST" ? [{ signature: "idempotency_key: Optional[str] = None", doc: "" }] : []),
  extraHeaders,
  { signature: "timeout: Optional[float] = None", doc: "" },
  { signature: "max_retries: Optional[int] = None", doc: "" },
];

function methodOf(method: Method, document: OpenApi): string {
  const { name, summary, verb, path, inPath, query, body, returns } = method;
  // `runs.stream` returns events instead.
  const fields = body ? fieldsOf(document, body.name).filter(({ field }) => field !== "stream") : [];
  const argumentOf = ({ name, schema, description }: Parameter): Argument => ({
    name: pythonName(name),
    field: name,
    required: false,
    description,
    type: typeOf(schema, "argument", document.components.schemas),
  });
  const queried = query.map(argumentOf);
  // A conditional header is of no use where bytes are returned without their ETag.
  const headers = method.headers
    .filter((one) => !/^If-(None-Match|Range)$/.test(one.name))
    .map((one) => ({ ...argumentOf(one), ...(one.name === "If-Match" && { type: "Union[str, int]" }) }));
  const whole = body?.isMap ? [`body: ${body.binary ? "Union[Mapping[str, Any], bytes]" : "Mapping[str, Any]"}`] : [];
  const isList = Boolean(returns?.items) && verb === "GET";
  const url = `f"${path.replace(/\{(\w+)\}/g, (_, name) => `{at(${pythonName(name)})}`)}"`.replace(
    /^f"([^{]*)"$/,
    '"$1"',
  );
  const options = requestOptions(verb);
  const parts = [
    ...(queried.length > 0 && !isList ? [`query=${givenOf(queried)}`] : []),
    ...(body ? [`body=${body.isMap ? "body" : givenOf(fields)}`] : []),
    ...(body?.binary ? [`binary=${JSON.stringify(body.binary)}`] : []),
    headers.length > 0 ? `headers={**texts(${givenOf(headers)}), **(extra_headers or {})}` : "headers=extra_headers",
    ...(verb === "POST" ? ["idempotency_key=idempotency_key"] : []),
    "timeout=timeout",
    "max_retries=max_retries",
  ].map((part) => `            ${part.replaceAll("\n", "\n    ")},\n`);
  const request = (kind: string) =>
    `await self._client.${kind}(\n            "${verb}",\n            ${url},\n${parts.join("")}        )\n`;
  const pager = `        return AsyncPager(
            self._client,
            ${url},
            ${givenOf(queried).replaceAll("\n", "\n    ")},
            {"headers": extra_headers, "timeout": timeout, "max_retries": max_retries},
        )
`;
  const result = returns ? resultOf(returns.schema) : "bytes";
  const other = returns?.instead ? resultOf(returns.instead.schema) : null;
  const named = [...fields, ...queried, ...headers];
  const head = [
    ...inPath.map((one) => `${pythonName(one.name)}: Union[str, int]`),
    ...whole,
    "*",
    ...named.map(signatureOf),
  ];
  if (method.resource.join(".") === "tools" && name === "sync")
    return definition({
      name,
      isAsync: true,
      head: [`name: Union[str, ${functionsSynced.type}]`, ...head.slice(1)],
      more: options,
      fields: named,
      result: `Union[${result}, List[${result}]]`,
      overloads: [
        { head: ["name: str", ...head.slice(1)], result },
        { head: [`name: ${functionsSynced.type}`, "*", ...queried.map(signatureOf)], result: `List[${result}]` },
      ],
      doc: `${functionsSynced.doc}.`,
      body: `${functionsSynced.body}        returned: ${result} = ${request("json")}        return returned\n`,
    });
  return definition({
    name: pythonName(name),
    isAsync: !isList,
    head,
    more: options,
    fields: named,
    result: isList ? `AsyncPager[types.${returns!.items}]` : other ? `Union[${result}, ${other}]` : result,
    ...(returns?.instead && { overloads: overloadsOf(head, returns.instead, result, other!) }),
    doc: `${summary}.`,
    body: isList
      ? pager
      : returns
        ? `        returned: ${other ? `Union[${result}, ${other}]` : result} = ${request("json")}        return returned\n`
        : `        return ${request("content")}`,
  });
}

/** Returns a result's type as named outside of the types module. */
const resultOf = (schema: Schema): string => typeOf(schema, "return").replace(/"(\w+)"/g, "types.$1");

function overloadsOf(
  head: readonly string[],
  { parameter, word }: { parameter: string; word: string | null },
  usual: string,
  other: string,
): NonNullable<Definition["overloads"]> {
  const rest = head.filter((argument) => !argument.startsWith(`${parameter}: `));
  const asked = head.map((argument) =>
    argument.startsWith(`${parameter}: `)
      ? `${parameter}: ${word === null ? "str" : `Literal[${JSON.stringify(word)}]`}`
      : argument,
  );
  return [
    { head: asked, result: other },
    { head: rest, result: usual },
  ];
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
/** Escapes a text, so that it cannot end the docstring. */
const docText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"""', "'''").replace(/"$/, '" ');

/** Fields of these names are accessible in brackets only. */
const methodsOfDict = new Set("clear copy fromkeys get items keys pop popitem setdefault update values".split(" "));

const className = (path: string): string =>
  `Async${path
    .split(/[._]/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("")}Resource`;
