import { expect, test } from "bun:test";
import { testApp } from "../testing/test-app.ts";

const long = "2512292042121000001";
const agent = (more: string) => `{"name":"A","instructions":"I.","model":"test/echo",${more}}`;
const memory = '{"name":"M","kind":"vector"}';
const many = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => `item ${at}`));

test.each<[string, string, string, string]>([
  ["/v1/agents", agent(`"max_turns":${long}`), "validation_failed", "max_turns"],
  ["/v1/agents", agent(`"model_settings":{"seed":${long}}`), "validation_failed", "model_settings.seed"],
  [
    "/v1/agents",
    agent('"model_settings":{"temperature":0.1234567890123456789}'),
    "validation_failed",
    "model_settings.temperature",
  ],
  ["/v1/agents", agent(`"model_settings":${long}`), "validation_failed", "model_settings"],
  ["/v1/agents", agent(`"metadata":${long}`), "validation_failed", "metadata"],
  ["/v1/agents", agent(`"metadata":{"a":${long}}`), "validation_failed", "metadata.a"],
  ["/v1/agents", agent(`"output_schema":${long}`), "validation_failed", "output_schema"],
  ["/v1/agents", agent('"metadata":{"a":1e400}'), "invalid_json", "metadata.a"],
  ["/v1/agents", agent(`"metadata":{"b":[${many},{"a":-1e400}]}`), "invalid_json", "metadata.b[1].a"],
  ["/v1/agents", long, "validation_failed", ""],
  ["/v1/memory/:id/entries", `{"text":"x","metadata":{"order":${long}}}`, "validation_failed", "metadata.order"],
  [
    "/v1/memory/:id/search",
    `{"query":"x","filter":{"order":{"$eq":${long}}}}`,
    "validation_failed",
    "filter.order.$eq",
  ],
  ["/v1/memory/:id/search", `{"query":"x","filter":{"order":${long}}}`, "validation_failed", "filter.order"],
  [
    "/v1/runs",
    `{"agent_id":"agt_00000000000000000000000000","input":"x","metadata":{"order":${long}}}`,
    "validation_failed",
    "metadata.order",
  ],
])("%s refuses %j with %s and the path of the number, where one is needed", async (path, body, code, param) => {
  await using server = testApp();
  const client = await server.client();
  const { id } = (await client.post("/v1/memory", memory)).body;
  const answer = await client.post(path.replace(":id", id), body);
  expect([answer.status, answer.body.error.code, answer.body.error.param ?? ""]).toEqual([400, code, param]);
});

test("a schema keeps bounds with more digits than numbers have, and validates against them", async () => {
  await using server = testApp();
  await server.recover();
  const client = await server.client();
  const parameters = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}';
  const tool = await client.post("/v1/tools", `{"name":"look","type":"client","parameters":${parameters}}`);
  expect([tool.status, JSON.stringify(tool.body.parameters)]).toEqual([201, parameters]);
  const call = (id: string) => `{"tool_calls":[{"name":"look","arguments":{"id":${id}}}]}`;
  const script = `[${call("9223372036854775808")},${call("9223372036854775807")}]`;
  const settings = `"tools":["${tool.body.id}"],"model_settings":{"script":${script}}`;
  const made = await client.post("/v1/agents", agent(settings).replace("test/echo", "test/script"));
  const run = (await client.post("/v1/runs?wait=60", { agent_id: made.body.id, input: "Go." })).body;
  expect(run.tool_calls[0].error.message).toBe("id: must be <= 9223372036854775807");
  expect(JSON.stringify(run.tool_calls[1].arguments)).toBe('{"id":9223372036854775807}');
  expect(run.status).toBe("requires_action");
});
