import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, testApp } from "../testing/test-app.ts";

// The names of docs/develop/names-on-the-wire.md. Exceptions are written out, so that a new misfit is a failure.

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  description?: string;
  format?: string;
  type?: string | string[];
  anyOf?: Schema[];
}

/** A property of a schema, or a parameter of a path: where it is, and what it is. */
interface Field {
  place: string;
  name: string;
  schema: Schema;
}

/** Names that had a uniform one, by the places that keep them. */
const replaced: Record<string, readonly string[]> = {
  args: ["ToolRequestedEventData"],
  call_id: [],
  duration: [],
  elapsed: [],
  ended_at: [],
  expires_in: [],
  expires_in_ms: [],
  finished_at: [],
  latency: [],
  ms: [],
  result: ["ToolCompletedEventData"],
  timeout: [],
  // In a filter of runs and in the answer to a tool that was set by name, it is a tool and no call.
  tool: [
    "ToolRequestedEventData",
    "ToolCompletedEventData",
    "ToolSync",
    "ToolImportOperation",
    "GET /v1/runs",
    "GET /v1/runs/count",
    "GET /v1/runs/export",
  ],
  ttl: [],
};

/** Bounds of a period, and the time of an event of a run or of a part of an object. */
const otherTimes = new Set(["at", "from", "to", "since", "as_of"]);

/** `Prefer: wait` of RFC 7240 is in seconds; the parts of `worked_ms` and `percentiles_ms` have their parent's unit. */
const otherDurations = new Set(["wait", "p50", "p95", "p99"]);

/** A change of a key names the field that it changes. */
const otherExpiries = new Set(["UpdateApiKeyRequest.expires_at"]);

const server = testApp();
let client: Client;
let fields: Field[];
beforeAll(async () => {
  client = await server.client();
  fields = fieldsOf((await client.get("/v1/openapi.json")).body);
});
afterAll(() => server[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: a parsed document.
function fieldsOf(document: any): Field[] {
  const fields: Field[] = [];
  const walk = (node: unknown, place: string): void => {
    if (Array.isArray(node)) for (const each of node) walk(each, place);
    if (typeof node !== "object" || node === null || Array.isArray(node)) return;
    const { properties } = node as Schema;
    if (properties && typeof properties === "object")
      for (const [name, schema] of Object.entries(properties)) fields.push({ place, name, schema });
    for (const [key, value] of Object.entries(node))
      if (key !== "example" && key !== "examples" && key !== "default") walk(value, place);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) walk(schema, name);
  walk(document.webhooks, "webhooks");
  for (const [path, methods] of Object.entries<Record<string, { parameters?: unknown[] }>>(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const place = `${method.toUpperCase()} ${path}`;
      walk({ ...operation, parameters: [] }, place);
      for (const parameter of (operation.parameters ?? []) as { $ref?: string; name: string; schema: Schema }[]) {
        const known = parameter.$ref ? document.components.parameters[parameter.$ref.split("/").at(-1)!] : parameter;
        fields.push({ place, name: known.name, schema: { description: known.description, ...known.schema } });
      }
    }
  return fields;
}

const namesOf = (place: string): string[] => fields.filter((field) => field.place === place).map(({ name }) => name);

/** Returns the fields that break the rules, as `place.name`. */
function misfitsIn(fields: readonly Field[]): string[] {
  return fields.flatMap(({ place, name, schema }) => {
    const at = `${place}.${name}`;
    const bare = name.replace(/\[\w+\]$/, "");
    const isOld = Object.hasOwn(replaced, bare) && !replaced[bare]!.includes(place);
    const isTime = [schema, ...(schema.anyOf ?? [])].some(({ format }) => format === "date-time");
    const isUnclearTime = isTime && !bare.endsWith("_at") && !bare.endsWith("_ats") && !otherTimes.has(bare);
    const types = [schema, ...(schema.anyOf ?? [])].flatMap(({ type }) => type ?? []);
    const isNumber = types.includes("integer") || types.includes("number");
    const unit = /\bmilliseconds\b/.test(schema.description ?? "")
      ? "_ms"
      : /\b[Hh]ow many seconds\b|\bin seconds\b/.test(schema.description ?? "")
        ? "_seconds"
        : "";
    const isUnclearDuration =
      isNumber && !bare.endsWith(unit) && !bare.includes(`${unit}_`) && !otherDurations.has(bare);
    const isRequest = /Request(InParts)?$/.test(place);
    const isOtherExpiry = isRequest && /^expire/.test(bare) && bare !== "expires_in_seconds" && !otherExpiries.has(at);
    return isOld || isUnclearTime || isUnclearDuration || isOtherExpiry ? [at] : [];
  });
}

test("one thing has one name in requests, responses, events and webhooks", () => {
  expect(fields.length).toBeGreaterThan(1000);
  expect(misfitsIn(fields)).toEqual([]);
});

test("a call is `id` where it is the object, and `tool_call_id` where something refers to it", () => {
  for (const place of ["ToolCall", "WebhookToolCall", "WebhookRunToolCall", "ToolCallDelivery", "MessageToolCall"]) {
    expect(namesOf(place)).toEqual(expect.arrayContaining(["id", "name", "arguments"]));
    expect(namesOf(place)).not.toContain("tool_call_id");
  }
  for (const place of ["RequiredToolCall", "Approval"])
    expect(namesOf(place)).toEqual(expect.arrayContaining(["tool_call_id", "name", "arguments"]));
  expect(namesOf("RequiredToolCall")).not.toContain("id");
  expect(namesOf("ToolOutput")).toEqual(expect.arrayContaining(["tool_call_id", "output"]));
});

test("the events of the specification keep their fields", () => {
  expect(namesOf("ToolRequestedEventData")).toEqual(expect.arrayContaining(["tool", "args", "tool_call_id"]));
  expect(namesOf("ToolCompletedEventData")).toEqual(expect.arrayContaining(["tool", "result", "latency_ms"]));
  expect(namesOf("TokenEventData")).toContain("delta");
  expect(namesOf("RunCreatedEventData")).toEqual(expect.arrayContaining(["id", "status"]));
});

test.each([
  ["ended_at", { type: "string", format: "date-time" }],
  ["tool", { type: "string" }],
  ["finished", { type: "string", format: "date-time" }],
  ["length_of_it", { type: "integer", description: "How long it took, in milliseconds." }],
  ["lasts", { type: "integer", description: "How many seconds it lasts." }],
  ["expires_at", { type: "string", format: "date-time" }],
])("a new field %p of a request is found", (name, schema) => {
  expect(misfitsIn([{ place: "CreateThingRequest", name, schema }])).toEqual([`CreateThingRequest.${name}`]);
});

test.each([
  ["/v1/client_tokens", { agent_id: "agt_x", scopes: ["read"], expires_in: 60 }, "expires_in", "expires_in_seconds"],
  ["/v1/tools/:id/test", { arguments: {}, tool: "a" }, "tool", "name"],
])("a body of %p with the old name is a 400 that says the new one", async (path, body, param, name) => {
  const parameters = { type: "object", properties: {} };
  const tool = await client.post("/v1/tools", { name: `look_${param}`, type: "client", parameters });
  const answer = await client.post(path.replace(":id", tool.body.id), body);
  expect(answer.status).toBe(400);
  const found = answer.body.error.errors.find((each: { param: string }) => each.param === param);
  expect(found).toMatchObject({ code: "unknown_parameter", message: expect.stringContaining(`\`${name}\``) });
});

test("a filter with an old name is a 400 that says the new one", async () => {
  const { status, body } = await client.get("/v1/runs?duration_min=5");
  expect([status, body.error.param]).toEqual([400, "duration_min"]);
  expect(body.error.message).toContain("`duration_ms_min`");
  // Where there is no such filter, the message names none.
  const other = await client.get("/v1/agents?duration_min=5");
  expect(other.body.error.message).not.toContain("duration_ms_min");
});
