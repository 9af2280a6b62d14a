import { afterAll, beforeAll, expect, test } from "bun:test";
import { Errors } from "typebox/schema";
import { catalogue, type ErrorCode, errorCodes } from "../domain/errors.ts";
import { type Kind, newId } from "../domain/ids.ts";
import { readTimestamp } from "../domain/time.ts";
import { checkSchema, validateAgainst } from "../lib/json-schema.ts";
import { newSigningSecret, sign } from "../lib/signature.ts";
import { uploadSkill } from "../testing/skills.ts";
import { type Client, testApp } from "../testing/test-app.ts";
import { namesIn } from "./openapi-components.ts";
import type { RequiredPermission } from "./operation.ts";
import { patternWords } from "./pattern-words.ts";

const server = testApp();
const { operations } = server;
afterAll(() => server[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: a parsed document; tests read parts of it.
let document: any;
let admin: Client;
beforeAll(async () => {
  admin = await server.client();
  document = (await admin.get("/v1/openapi.json")).body;
});

const described = () =>
  Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

test("exactly the routes under /v1 are described", () => {
  const routes = server.app.routes
    .filter(({ path }) => path.startsWith("/v1/"))
    .map(({ method, path }) => `${method} ${path.replace(/\/$/, "").replaceAll(/:(\w+)/g, "{$1}")}`);
  expect(
    described()
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  ).toEqual(routes.toSorted());
  expect(Object.keys(operations)).toHaveLength(routes.length);
});

const besideJson: Record<string, string[]> = {
  "skills.create": ["multipart/form-data", "application/zip"],
  "files.create": ["multipart/form-data"],
  "traces.import": ["application/vnd.sqlite3"],
};

test("operations have unique ids, a summary, at most one JSON body, and an error for a missing key", () => {
  expect(new Set(described().map(({ operation }) => operation.operationId)).size).toBe(described().length);
  for (const { operation } of described()) {
    expect(operation.summary).toBeString();
    expect(operation.responses[401]).toEqual({ $ref: "#/components/responses/401" });
    const successes = Object.keys(operation.responses).filter((status) => status.startsWith("2"));
    expect(successes.length).toBeGreaterThan(0);
    if (!operation.requestBody) continue;
    const beside = besideJson[operation.operationId] ?? [];
    expect(Object.keys(operation.requestBody.content)).toEqual(["application/json", ...beside]);
  }
  const bodies = described().filter(({ method }) => method === "POST" || method === "PATCH");
  expect(bodies.every(({ operation }) => operation.requestBody !== undefined)).toBe(true);
});

// Client generators derive function names from them.
test("every id is a resource and a verb", () => {
  const ids = described().map(({ operation }) => operation.operationId);
  expect(ids.filter((id) => !/^([a-z_]+\.)+[a-z_]+$/.test(id))).toEqual([]);
  const verbs = new Set(ids.map((id) => id.split(".").at(-1)!));
  expect([...verbs].sort()).toEqual(
    [
      "add",
      "authorize",
      "cancel",
      "capsule",
      "content",
      "count",
      "create",
      "delete",
      "diff",
      "export",
      "fork",
      "import",
      "list",
      "pause",
      "redeliver",
      "refresh",
      "replay",
      "resume",
      "retrieve",
      "retry",
      "revoke",
      "rollback",
      "rotate",
      "rotate_secret",
      "search",
      "set",
      "steer",
      "submit_tool_outputs",
      "sync",
      "test",
      "trigger",
      "update",
    ].sort(),
  );
});

test("each status lists its possible errors, and every API error that a key can meet belongs to a route", () => {
  const all = new Set<string>();
  for (const { operation } of described())
    for (const [status, { $ref }] of Object.entries<{ $ref?: string }>(operation.responses)) {
      if (status < "400" || status === "default") continue;
      const { description, "x-error-codes": codes } = document.components.responses[$ref!.split("/").at(-1)!];
      for (const code of codes) {
        expect(catalogue[code as ErrorCode].status).toBe(Number(status) as 400);
        expect(description).toContain(`\`${code}\``);
        all.add(code);
      }
    }
  // Exceptions: final stream events, unsupported methods, disconnected clients, metrics, a cluster without a leader,
  // events of triggers, and dashboard errors.
  const elsewhere = ["key_expired", "project_archived", "method_not_allowed", "overloaded"];
  elsewhere.push("metrics_token_required", "cluster_unavailable", "invalid_signature");
  const people = ["missing_session", "invalid_login", "cross_origin", "insufficient_role", "invitation_invalid"];
  people.push("setup_token_invalid", "setup_token_expired", "last_owner", "setup_done");
  people.push("local_accounts_off", "issuer_failed", "second_factor_required", "invalid_code", "reset_invalid");
  expect([...all, ...elsewhere, ...people].sort()).toEqual([...errorCodes].sort());
});

test("every example fits its schema, and the ids in generated examples look like ids", () => {
  let seen = 0;
  for (const { operation } of described()) {
    const contents = [operation.requestBody, ...Object.values<{ content?: object }>(operation.responses)].flatMap(
      (part) => Object.values<{ schema: object; example?: unknown }>(part?.content ?? {}),
    );
    for (const { schema, example } of contents) {
      if (example === undefined) continue;
      seen++;
      const whole = { ...withDefs(schema), $defs: definitions() };
      expect({ id: operation.operationId, faults: Errors(whole, example)[1] }).toEqual({
        id: operation.operationId,
        faults: [],
      });
      if (example !== operation.requestBody?.content["application/json"].example) continue;
      const ids = [...JSON.stringify(example).matchAll(/"(id|[a-z_]*_id)":"([^"]*)"/g)];
      for (const [, field, id] of ids)
        if (!ofClients.has(field!)) expect(`${field} ${id}`).toMatch(/ [a-z]+_[0-9a-z]{26}$/);
    }
  }
  expect(seen).toBeGreaterThan(80);
});

test("the example of a request never uses a field's name as its value", () => {
  const echoes: string[] = [];
  const look = (value: unknown, field: string, place: string): void => {
    if (value === field || (typeof value === "string" && `${value}s` === field)) echoes.push(`${place}.${field}`);
    if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) look(inner, Array.isArray(value) ? field : key, place);
  };
  for (const { operation } of described())
    for (const { example } of Object.values<{ example?: unknown }>(operation.requestBody?.content ?? {}))
      look(example, "", operation.operationId);
  expect(echoes).toEqual([]);
});
const ofClients = new Set(["user_id", "session_id", "scope_id", "client_id"]);

test("every webhook has an example that fits its schema, and the headers for its signature", () => {
  const signed = Object.keys(sign({ secrets: [newSigningSecret()], id: "evt_1", timestamp: 1, body: "" }));
  for (const [event, { post }] of Object.entries<typeof document>(document.webhooks)) {
    const { parameters, requestBody } = post;
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(signed);
    const { schema, example } = requestBody.content["application/json"];
    expect({ event, faults: Errors({ ...withDefs(schema), $defs: definitions() }, example)[1] }).toEqual({
      event,
      faults: [],
    });
    if (event === "tool_call") continue;
    expectFit("WebhookEvent", example);
    if (example.data.object.object === "run") expectFit("WebhookRun", example.data.object);
  }
  expect(Object.keys(document.webhooks).length).toBeGreaterThan(5);
});

test("every webhook has a body of its own", () => {
  const bodies = Object.values<typeof document>(document.webhooks).map(
    ({ post }) => post.requestBody.content["application/json"].schema.$ref,
  );
  expect(new Set(bodies).size).toBe(bodies.length);
  const { mapping } = document.components.schemas.WebhookEvent.discriminator;
  for (const [event, { post }] of Object.entries<typeof document>(document.webhooks))
    if (event in mapping) expect(post.requestBody.content["application/json"].schema.$ref).toBe(mapping[event]);
});

// oapi-codegen leaves out what no path leads to, though webhooks use it, and stops at a value of several types.
test("a path leads to every schema, and no value has several types", () => {
  const names = Object.keys(document.components.schemas);
  const found = namesIn([document.paths, document.components.responses], document.components.schemas);
  expect(names.filter((name) => !found.has(name))).toEqual([]);
  expect(JSON.stringify(document)).not.toMatch(/"type":\[/);
});

// openapi-typescript makes a field with a default required, and other generators send it.
test("a request's field with a default may be left out", () => {
  const bodies = described().map(({ operation }) => operation.requestBody);
  const sent = [...namesIn(bodies, document.components.schemas)];
  const fields = sent.flatMap((name) =>
    Object.entries<typeof document>(document.components.schemas[name].properties ?? {}).map(([field, schema]) => ({
      field: `${name}.${field}`,
      schema,
      isRequired: (document.components.schemas[name].required ?? []).includes(field),
    })),
  );
  expect(fields.filter(({ schema }) => "default" in schema).map(({ field }) => field)).toEqual([]);
  const told = fields.filter(({ schema }) => "x-default" in schema);
  expect(told.filter(({ isRequired }) => isRequired)).toEqual([]);
  expect(told.length).toBeGreaterThan(20);
  for (const { schema } of told)
    expect(schema.description).toEndWith(`Default: \`${JSON.stringify(schema["x-default"])}\`.`);
});

test("every path parameter is declared exactly once", () => {
  for (const { path, operation } of described()) {
    const declared = operation.parameters.map(
      ({ in: place, name }: { in: string; name: string }) => `${place} ${name}`,
    );
    expect(new Set(declared).size).toBe(declared.length);
    for (const [, name] of path.matchAll(/{(\w+)}/g)) expect(declared).toContain(`path ${name}`);
  }
});

test("every reference resolves", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => String(target));
  expect(references.length).toBeGreaterThan(50);
  for (const target of new Set(references)) {
    const found = target
      .split("/")
      .slice(1)
      .reduce((node, part) => node?.[part], document);
    expect({ target, found: typeof found }).toEqual({ target, found: "object" });
  }
});

test("streaming operations are described as such", () => {
  const streaming = described().filter(({ operation }) => operation.responses[200]?.content?.["text/event-stream"]);
  expect(streaming.map(({ operation }) => operation.operationId).sort()).toEqual([
    "runs.create",
    "runs.events.list",
    "runs.fork",
    "runs.submit_tool_outputs",
  ]);
});

test("every schema is valid", () => {
  // A schema that users give has a maximum length. The words of all events are longer, and change nothing here.
  const withoutWords = (schema: object) =>
    JSON.parse(
      JSON.stringify(schema, (key, value) => (key === "description" && typeof value === "string" ? undefined : value)),
    );
  for (const name of Object.keys(definitions()))
    expect(checkSchema(withoutWords({ $ref: `#/$defs/${name}`, $defs: reachableFrom(name) }))).toEqual([]);
});

// Generators invent unstable names for unnamed objects.
test("every object schema is a named component", () => {
  const inline: string[] = [];
  const look = (node: unknown, place: string, isNamed: boolean): void => {
    if (typeof node !== "object" || node === null) return;
    const schema = node as Record<string, unknown>;
    if (!isNamed && typeof schema.properties === "object" && schema.type === "object") inline.push(place);
    for (const [key, inner] of Object.entries(schema)) if (key !== "example") look(inner, `${place}.${key}`, false);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name, true);
  look(document.paths, "paths", false);
  expect(inline).toEqual([]);
  for (const { operation } of described())
    if (operation.requestBody)
      expect(operation.requestBody.content["application/json"].schema.$ref).toEndWith("Request");
});

// Derived names must not repeat a word, and the name of a list item is singular.
test("names of objects are distinct and repeat no word", () => {
  const words = (name: string) => name.match(/[A-Z][a-z0-9]*/g) ?? [];
  const odd = Object.keys(definitions()).filter((name) => {
    const its = words(name);
    return its.join("") !== name || its.some((word, at) => word === its[at + 1]) || /(ie|che)$/.test(name);
  });
  expect(odd).toEqual([]);
  const shapes = Map.groupBy(Object.entries<object>(definitions()), ([, schema]) => JSON.stringify(schema));
  const several = [...shapes.values()].map((same) => same.map(([name]) => name)).filter((same) => same.length > 1);
  // Names of request bodies come from operations, names of event data from events.
  expect(several.filter((same) => !same.some((name) => /(Request|EventData)$/.test(name)))).toEqual([]);
});

test("a description explains null exactly where null is allowed", () => {
  interface Field {
    description?: string;
    $ref?: string;
    type?: unknown;
    anyOf?: Field[];
    const?: unknown;
    enum?: unknown;
  }
  const mayBeNull = ({ type, anyOf }: Field): boolean => anyOf?.some(mayBeNull) ?? type === "null";
  const isAnything = (field: Field) => !["$ref", "type", "anyOf", "const", "enum"].some((key) => key in field);
  const wrong: string[] = [];
  for (const [name, schema] of Object.entries<{ properties?: Record<string, Field> }>(definitions()))
    for (const [field, its] of Object.entries(schema.properties ?? {})) {
      const says = /\bnull\b/.test(its.description ?? "");
      if (/; null\b/.test(its.description ?? "") && !mayBeNull(its) && !isAnything(its))
        wrong.push(`${name}.${field} never is`);
      if (/(Request|Input)$/.test(name) && mayBeNull(its) && !says) wrong.push(`${name}.${field} may be`);
    }
  expect(wrong).toEqual([]);
});

test("maps and enums are written in the form that generators read", () => {
  expect(document.components.schemas.Metadata).toEqual({
    type: "object",
    maxProperties: 16,
    propertyNames: { pattern: "^[\\s\\S]{1,64}$" },
    additionalProperties: { type: "string", maxLength: 512 },
  });
  expect(JSON.stringify(document)).not.toContain("patternProperties");
  const guardrail = document.components.schemas.GuardrailInput;
  expect(guardrail.properties.action.enum).toEqual(["block", "redact", "flag", "require_approval"]);
  expect(guardrail.properties.config).toMatchObject({ $ref: "#/components/schemas/JsonObject" });
});

test("the first format of a response that may be a stream is JSON", () => {
  for (const { operation } of described()) {
    const formats = Object.keys(operation.responses[200]?.content ?? {});
    if (formats.includes("text/event-stream")) expect(formats).toEqual(["application/json", "text/event-stream"]);
  }
});

// Clients and generators rely on the schema matching the server.
/** Our own patterns may be longer than those of others, which are left unchecked then. */
const fitsPattern = ({ pattern }: Record<string, unknown>, value: string): boolean =>
  typeof pattern !== "string" || new RegExp(pattern, "u").test(value);

test("the server accepts exactly the query parameters that the schema allows", async () => {
  const client = await server.client({ project: "parameters" });
  const unlimited = { reads_per_minute: 0, writes_per_minute: 0, run_creations_per_minute: 0 };
  await server.projects.update(client.scope.project_id, { limits: unlimited });
  const agent_id = (await client.post("/v1/agents", { name: "e", instructions: "", model: "test/echo" })).body.id;
  const run = (await client.post("/v1/runs?wait=60", { agent_id, input: "Hello" })).body.id;
  const { id: memory } = (await client.post("/v1/memory", { name: "m", kind: "vector" })).body;
  const { id: pad } = (await client.post("/v1/memory", { name: "pad", kind: "kv", scope: "user" })).body;
  await client.put(`/v1/memory/${pad}/keys/note?scope_id=x`, { value: 1 });
  const daily = { name: "s", agent_id, input: "Go.", cron: "0 9 * * *", timezone: "UTC" };
  const { id: schedule } = (await client.post("/v1/schedules", daily)).body;
  const event = { name: "t", agent_id, verification: "github" };
  const { id: trigger } = (await client.post("/v1/triggers", event)).body;
  const { id: suite } = (await client.post("/v1/suites", { name: "s", run_ids: [run] })).body;
  const { id: snippet } = (await client.post("/v1/snippets", { name: "policy", text: "t" })).body;
  const { id: skill } = await uploadSkill(client, "pdf");
  const bodies: Record<string, object> = {
    "POST /v1/runs": { agent_id, input: "Hi" },
    "POST /v1/runs/:id/fork": { step_index: -1 },
    "POST /v1/runs/:id/submit_tool_outputs": { tool_outputs: [{ tool_call_id: newId("tool_call"), output: "x" }] },
    "POST /v1/suites/:id/runs": {},
    "PUT /v1/agents/by-name/:name": { instructions: "", model: "test/echo" },
    "PUT /v1/tools/by-name/:name": {},
  };
  const idOf = (path: string): string => {
    if (/^\/v1\/(runs|traces)/.test(path)) return run;
    if (path.startsWith("/v1/agents")) return agent_id;
    if (path.startsWith("/v1/schedules")) return schedule;
    if (path.startsWith("/v1/triggers")) return trigger;
    if (path.startsWith("/v1/skills")) return skill;
    if (path.startsWith("/v1/suites")) return suite;
    if (path.startsWith("/v1/snippets")) return snippet;
    if (path.startsWith("/v1/memory")) return path.includes("/keys") ? pad : memory;
    return newId(kindOf[path.split("/")[2]!] ?? "request");
  };
  const texts = ["", "x", "X.y", "a.b", "0", "1", "true", "x".repeat(128), "x".repeat(255), "x".repeat(256)];
  texts.push(
    "x".repeat(512),
    "x".repeat(513),
    "raw",
    "otlp",
    "2026-11-21",
    "2026-11-21T01:20:00Z",
    run,
    newId("agent"),
  );
  const wrong: string[] = [];
  let looked = 0;
  for (const [route, { query = {} }] of Object.entries(operations)) {
    const [method = "", path = ""] = route.split(" ");
    const address = path
      .replace(/:(id|run_id)\b/, idOf(path))
      .replace(":other_id", run)
      .replace(":version", "1")
      .replace(":key", "note");
    for (const [name, schema] of Object.entries(query).filter(([name]) => !name.endsWith("[*]")))
      for (const value of texts) {
        const { body } = await server.send(
          method,
          `${address.replaceAll(/:\w+/g, newId("memory_entry"))}?${encodeURIComponent(name)}=${encodeURIComponent(value)}${name === "content" ? "&format=otlp" : ""}`,
          method === "GET" || method === "DELETE" ? undefined : (bodies[route] ?? { value: 1 }),
          bearer(client),
        );
        const faults: { param: string }[] = body.error?.code === "validation_failed" ? body.error.errors : [];
        const isTaken = !faults.some(({ param }) => param === name);
        const isRight =
          validateAgainst(schema, typed(schema, value)).length === 0 &&
          fitsFormat(schema, value) &&
          fitsPattern(schema, value);
        looked++;
        if (isTaken !== isRight)
          wrong.push(
            `${route} ${name} ${isTaken ? "takes" : "refuses"} ${JSON.stringify(value.slice(0, 30))}, ${value.length} long`,
          );
      }
  }
  expect(looked).toBeGreaterThan(2000);
  expect(wrong).toEqual([]);
}, 60_000);

test("the server accepts exactly the path names that the schema allows", async () => {
  const { parameters } = document.paths["/v1/secrets/{name}"].put;
  const { schema } = parameters.find((one: { in: string }) => one.in === "path");
  for (const value of ["x", "_X1", "1x", "a-b", "ü", "x".repeat(64), "x".repeat(65)]) {
    const { status } = await admin.put(`/v1/secrets/${encodeURIComponent(value)}`, { value: "y" });
    expect([value, status === 200]).toEqual([value, validateAgainst(schema, value).length === 0]);
  }
});

// Ids without a named owner or object.
test.each<[route: string, body: object, field: string]>([
  ["POST /v1/runs", { input: "Hi." }, "user_id"],
  ["POST /v1/runs", { input: "Hi." }, "session_id"],
  ["POST /v1/threads", {}, "user_id"],
  ["POST /v1/threads", {}, "session_id"],
  ["POST /v1/agents", { name: "a", instructions: "" }, "model"],
  ["POST /v1/agents", { model: "test/echo", instructions: "" }, "name"],
  ["POST /v1/files", { filename: "a.txt", text: "a", purpose: "attachment" }, "scope_id"],
])("%s with %j takes no empty %s", async (route, body, field) => {
  const [method = "", path = ""] = route.split(" ");
  const agent_id = path === "/v1/runs" ? newId("agent") : undefined;
  const answer = await server.send(method, path, { ...body, agent_id, [field]: "" }, bearer(admin));
  expect([answer.status, answer.body.error.errors?.map(({ param }: { param: string }) => param)]).toEqual([
    400,
    [field],
  ]);
});

const kindOf: Record<string, Kind> = { files: "file", threads: "thread", webhooks: "webhook" };

/** Converts a text to the type of a schema, as a client would. */
function typed({ type }: Record<string, unknown>, value: string): unknown {
  if (type === "integer" || type === "number") return /^\d+$/.test(value) ? Number(value) : value;
  return type === "boolean" && /^(true|false)$/.test(value) ? value === "true" : value;
}

const fitsFormat = ({ format }: Record<string, unknown>, value: string): boolean =>
  format !== "date-time" || readTimestamp(value) !== null;

test("a route accepts every described query parameter, and requires the named scope", async () => {
  for (const [route, { query = {}, needs }] of Object.entries(operations)) {
    const [method = "", path = ""] = route.split(" ");
    const address = path.replaceAll(/:\w+/g, "none");
    const names = Object.keys(query).map((name) => `${encodeURIComponent(name.replace("[*]", "[a]"))}=`);
    const taken = await server.send(
      method,
      `${address}?${names.join("&")}`,
      method === "GET" ? undefined : {},
      bearer(),
    );
    expect({ route, code: taken.body.error?.code }).not.toEqual({ route, code: "unknown_parameter" });
    for (const scope of ["read", "run"] as const) {
      const key = scope === "read" ? reader : runner;
      const { status } = await server.send(method, address, method === "GET" ? undefined : {}, bearer(await key));
      expect({ route, scope, admitted: status !== 403 }).toEqual({ route, scope, admitted: admits(needs, scope) });
    }
  }
});

test("real responses match their description in every field", async () => {
  const client = await server.client({ project: "answers" });
  const tool = await client.post("/v1/tools", { name: "look", url: "https://example.com/look" });
  const ask = (await client.post("/v1/tools", { name: "ask" })).body.id;
  const script = [{ text: "Wait.", tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Thanks." }];
  const body = { name: "a", instructions: "", model: "test/script", tools: [ask], model_settings: { script } };
  const agent = await client.post("/v1/agents", body);
  const run = await client.post("/v1/runs?wait=60", { agent_id: agent.body.id, input: "Hello" });
  expect(run.body.status).toBe("requires_action");
  expectFit("Run", run.body);
  expectFit("Approval", (await client.get("/v1/approvals")).body.data[0]);
  const id = run.body.id;
  const tool_outputs = [{ tool_call_id: run.body.tool_calls[0].id, output: { at: "noon" } }];
  await client.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs });
  expectFit("RunListItem", (await client.get("/v1/runs")).body.data[0]);
  expectFit("RunListItem", (await client.get("/v1/runs?include=messages")).body.data[0]);
  expectFit("Secret", (await client.put("/v1/secrets/KEY", { value: "x" })).body);
  expectFit("Secret", (await client.get("/v1/secrets")).body.data[0]);
  const upload = { filename: "a.txt", text: "a", purpose: "attachment" };
  expectFit("File", (await client.post("/v1/files", upload)).body);
  expectFit("File", (await client.get("/v1/files")).body.data[0]);
  const memory = await client.post("/v1/memory", { name: "m", kind: "vector" });
  expectFit("Memory", memory.body);
  expectFit("Memory", (await client.get("/v1/memory")).body.data[0]);
  const { id: memoryId } = memory.body;
  expectFit(
    "MemoryEntry",
    (await client.post(`/v1/memory/${memoryId}/entries`, { text: "Some words.", metadata: { n: 1, b: true } })).body,
  );
  for (const match of (await client.post(`/v1/memory/${memoryId}/search`, { query: "words" })).body.data)
    expectFit("MemoryMatch", match);
  const pad = (await client.post("/v1/memory", { name: "pad", kind: "kv" })).body.id;
  expectFit("MemoryKey", (await client.put(`/v1/memory/${pad}/keys/a`, { value: [1] })).body);
  expectFit("MemoryKey", (await client.get(`/v1/memory/${pad}/keys`)).body.data[0]);
  expectFit("DeletedKey", (await client.delete(`/v1/memory/${pad}/keys/a`)).body);
  expectFit("Tool", tool.body);
  const server_url = "http://127.0.0.1:65535/";
  for (const own of [
    { type: "webhook", url: server_url, headers: { a: "b" } },
    { type: "code", source: "(args) => args", files: [] },
    { type: "mcp", server_url, allowed_tools: ["a"] },
    { type: "agent", agent_id: agent.body.id },
  ]) {
    const made = await client.post("/v1/tools", { name: own.type, ...own });
    expect(made.status).toBe(201);
    expectFit("Tool", made.body);
    const tried = await client.post(`/v1/tools/${made.body.id}/test`, { arguments: {} });
    if (tried.status === 200) expectFit("ToolTest", tried.body);
  }
  const daily = { name: "s", agent_id: agent.body.id, input: "Go.", cron: "0 9 * * *", timezone: "UTC" };
  const scheduled = await client.post("/v1/schedules", daily);
  expectFit("Schedule", scheduled.body);
  expectFit("Schedule", (await client.get("/v1/schedules")).body.data[0]);
  expectFit("Run", (await client.post(`/v1/schedules/${scheduled.body.id}/trigger`, {})).body);
  const trigger = await client.post("/v1/triggers", { name: "t", agent_id: daily.agent_id, verification: "github" });
  expectFit("Trigger", trigger.body);
  expectFit("Trigger", (await client.get("/v1/triggers")).body.data[0]);
  const oauth = { name: "o", grant: "client_credentials", client_id: "c", client_secret: "s" };
  const registered = await client.post("/v1/oauth_clients", { ...oauth, token_endpoint: server_url });
  expectFit("OAuthClient", registered.body);
  expectFit("OAuthClient", (await client.get("/v1/oauth_clients")).body.data[0]);
  expectFit("ScheduleRun", (await client.get(`/v1/schedules/${scheduled.body.id}/runs`)).body.data[0]);
  const suite = await client.post("/v1/suites", { name: "s", run_ids: [id] });
  expectFit("Suite", suite.body);
  expectFit("SuiteListItem", (await client.get("/v1/suites")).body.data[0]);
  const performed = await client.post(`/v1/suites/${suite.body.id}/runs?wait=60`, { live: {} });
  expectFit("SuiteRun", performed.body);
  expectFit("SuiteRunListItem", (await client.get(`/v1/suites/${suite.body.id}/runs`)).body.data[0]);
  const thread = await client.post("/v1/threads", { title: "t" });
  expectFit("Thread", thread.body);
  const echo = (await client.post("/v1/agents", { name: "e", instructions: "", model: "test/echo" })).body.id;
  await client.post("/v1/runs?wait=60", { agent_id: echo, input: "Hello", thread_id: thread.body.id });
  expectFit("Thread", (await client.get("/v1/threads")).body.data[0]);
  expectFit("ThreadMessage", (await client.get(`/v1/threads/${thread.body.id}/messages`)).body.data[0]);
  expectFit("Tool", (await client.get("/v1/tools")).body.data[0]);
  expectFit("Agent", agent.body);
  expectFit("AgentListItem", (await client.get("/v1/agents")).body.data[0]);
  expectFit("AgentVersion", (await client.get(`/v1/agents/${agent.body.id}/versions`)).body.data[0]);
  for (const event of (await client.get(`/v1/runs/${id}/events`)).body.data) expectFit("Event", event);
  const trace = await client.get(`/v1/traces/${id}?include=raw`);
  expectFit("Trace", trace.body);
  for (const step of trace.body.steps) expectFit("TraceStep", step);
  for (const step of (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps) expectFit("TraceStep", step);
  const diff = await client.get(`/v1/runs/${id}/diff/${id}`);
  expectFit("Diff", diff.body);
  for (const step of diff.body.steps) expectFit("DiffStep", step);
  for (const call of run.body.tool_calls) expectFit("ToolCall", call);
  for (const message of run.body.messages) expectFit("Message", message);
  expectFit("Usage", run.body.usage);
  expectFit("TraceSummary", (await client.get("/v1/traces")).body.data[0]);
  expectFit("ApiKey", (await client.post("/v1/api_keys", { name: "k", scopes: ["read"] })).body);
  expectFit("AuditEntry", (await client.get("/v1/audit_log")).body.data[0]);
  expectFit("UsageReport", (await client.get("/v1/usage?group_by=agent")).body);
  expectFit("ModelList", (await client.get("/v1/models")).body);
  expectFit("Me", (await client.get("/v1/me")).body);
  const webhook = await client.post("/v1/webhooks", { url: server_url, events: ["*"] });
  expectFit("Webhook", webhook.body);
  const delivery = await client.post(`/v1/webhooks/${webhook.body.id}/test`, {});
  expectFit("WebhookDelivery", delivery.body);
  expectFit("WebhookEvent", JSON.parse(delivery.body.body));
  expectFit("Deleted", (await client.delete(`/v1/agents/${agent.body.id}`)).body);
  expectFit("ErrorResponse", (await client.get(`/v1/agents/${agent.body.id}`)).body);
});

const reader = server.client({ project: "scopes-read", scopes: ["read"] });
const runner = server.client({ project: "scopes-run", scopes: ["run"] });
const bearer = (client: Client = admin) => ({ authorization: `Bearer ${client.key.secret}` });
const admits = (needs: RequiredPermission, scope: "read" | "run") => needs === scope || needs === "read_or_run";

/** A schema with those it refers to, because all together exceed the limit of one schema. */
function reachableFrom(name: string, found: Record<string, unknown> = {}): Record<string, unknown> {
  const schema = definitions()[name];
  found[name] = schema;
  for (const [, next] of JSON.stringify(schema).matchAll(/#\/\$defs\/(\w+)/g))
    if (!Object.hasOwn(found, next!)) reachableFrom(next!, found);
  return found;
}

type Definitions = Record<string, Record<string, unknown>>;
let known: Definitions | undefined;
function definitions(): Definitions {
  known ??= withDefs<Definitions>(document.components.schemas);
  return known;
}

const withDefs = <T extends object>(schema: T): T =>
  JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/"));

/** Forbids additional fields, so that undescribed fields are found. */
function expectFit(name: string, value: unknown): void {
  const $defs = definitions();
  const { propertyName, mapping } = ($defs[name]!.discriminator ?? {}) as {
    propertyName?: string;
    mapping?: Record<string, string>;
  };
  if (mapping) {
    expectFit(mapping[(value as Record<string, string>)[propertyName!]!]!.split("/").at(-1)!, value);
    return;
  }
  const schema = { ...$defs[name], additionalProperties: false, $defs: reachableFrom(name) };
  expect({ name, faults: Errors(schema, value)[1] }).toEqual({ name, faults: [] });
}

test("every pattern of a request has words for the message, so that no client reads a regular expression", () => {
  const found = new Set<string>();
  // biome-ignore lint/suspicious/noExplicitAny: a parsed document.
  const walk = (schema: any, seen: Set<unknown>): void => {
    if (typeof schema !== "object" || schema === null || seen.has(schema)) return;
    seen.add(schema);
    if (typeof schema.$ref === "string") walk(document.components.schemas[schema.$ref.split("/").at(-1)], seen);
    if (typeof schema.pattern === "string" && patternWords(schema) === null) found.add(schema.pattern);
    for (const each of Object.values(schema)) walk(each, seen);
  };
  const seen = new Set<unknown>();
  for (const { operation } of described()) {
    for (const parameter of (operation as { parameters?: unknown[] }).parameters ?? []) walk(parameter, seen);
    walk((operation as { requestBody?: unknown }).requestBody, seen);
  }
  expect(seen.size).toBeGreaterThan(1000);
  expect([...found]).toEqual([]);
});
