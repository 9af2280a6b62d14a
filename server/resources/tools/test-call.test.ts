import { expect, test } from "bun:test";
import type { HttpTool, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { newId } from "../../domain/ids.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { agentTool, tool } from "../../testing/run-fixture.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";
import { createToolTest, type TestOutcome } from "./test-call.ts";

const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const http: HttpTool = {
  id: newId("tool"),
  name: "add",
  description: "",
  parameters,
  type: "http",
  idempotent: false,
  approval: "always",
  on_unknown: "ask",
  max_output_bytes: 1000,
  http: { url: "", method: "POST", timeout_ms: 1000, retries: 0, response: "json", sealed: "" },
};

/** Creates a test call of this tool that ends with this outcome. */
async function setUp(tool: ToolSnapshot, outcome: TestOutcome) {
  const server = testApp();
  const { scope } = await server.client();
  const ran: unknown[] = [];
  const call = createToolTest({
    db: server.db,
    audit: createAudit({ db: server.db }),
    callable: () => tool,
    runTool: async (_, { name }, args) => {
      ran.push([name, args]);
      return outcome;
    },
  });
  return {
    ran,
    test: (args: Record<string, unknown>) =>
      call({ ...scope, actor: testActor }, http.id, { arguments: args }, new AbortController().signal),
    noted: () => server.db.sqlite.query("SELECT * FROM audit_log WHERE action = 'tool.tested'").all(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("a tool is called directly, without an approval, and the audit log has no arguments", async () => {
  const files = [{ id: newId("file"), filename: "a.txt", mime_type: "text/plain", bytes: 1, sha256: "0" }];
  await using tool = await setUp(http, { output: 3, error: null, attempts: 2, files });
  const latency_ms = expect.any(Number);
  expect(await tool.test({ n: 4711 })).toEqual({ output: 3, error: null, attempts: 2, files, latency_ms });
  expect(tool.ran).toEqual([["add", { n: 4711 }]]);
  expect(tool.noted()).toMatchObject([{ target_id: http.id, details: '{"name":"add","type":"http"}' }]);
});

test("an error of the tool is a result, and so is a pending webhook", async () => {
  const error = { code: "http_error", message: "No." };
  await using failing = await setUp(http, { output: null, error, attempts: 1 });
  expect(await failing.test({ n: 1 })).toMatchObject({ output: null, error, attempts: 1 });
  await using later = await setUp({ ...http, type: "webhook" }, { later: true, attempts: 1 });
  expect(await later.test({ n: 1 })).toMatchObject({ output: null, error: { code: "accepted_later" }, attempts: 1 });
});

test("invalid arguments are refused one by one, before anything is called or logged", async () => {
  await using tool = await setUp(http, { output: 3, error: null, attempts: 1 });
  expect(tool.test({ n: "1" })).rejects.toMatchObject({ code: "validation_failed", param: "arguments.n" });
  expect(tool.test({})).rejects.toMatchObject({ code: "validation_failed", param: "arguments" });
  const large = { n: 1, text: "x".repeat(65_536) };
  expect(tool.test(large)).rejects.toMatchObject({ code: "validation_failed", param: "arguments" });
  expect([tool.ran, tool.noted()]).toEqual([[], []]);
});

test.each([
  ["client", tool("add")],
  ["agent", agentTool("add", "agt_other")],
])("a tool of type %s cannot be tested", async (_, untestable) => {
  await using tool = await setUp(untestable, { output: 3, error: null, attempts: 1 });
  expect(tool.test({ n: 1 })).rejects.toMatchObject({ code: "validation_failed" });
  expect(tool.ran).toEqual([]);
});

test("an MCP server's tool is tested by its name there", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body } = await client.post("/v1/tools", { name: "crm", type: "mcp", server_url: "http://127.0.0.1:65535/" });
  const listing = {
    tools: [{ name: "a", description: "", parameters, idempotent: true }],
    skipped: [],
    listed_at_ms: 1,
  };
  server.db.sqlite
    .query("UPDATE tools SET definition = json_set(definition, '$.mcp.listing', json(?))")
    .run(JSON.stringify(listing));
  const path = `/v1/tools/${body.id}/test`;
  for (const [name, param] of [
    [undefined, "name"],
    ["b", "name"],
    ["a", "arguments"],
  ])
    expect((await client.post(path, { arguments: {}, name })).body.error).toMatchObject({ param });
  const { body: ask } = await client.post("/v1/tools", { name: "ask" });
  const refused = await client.post(`/v1/tools/${ask.id}/test`, { arguments: {}, name: "a" });
  expect(refused.body.error).toMatchObject({ param: "name" });
});
