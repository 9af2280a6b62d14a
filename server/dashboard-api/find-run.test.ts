import { afterAll, beforeAll, expect, test } from "bun:test";
import { forgetLastId, newId } from "../domain/ids.ts";
import { type ConsoleVisitor, visitorOf } from "../testing/console-visitor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

let server: TestApp;
let client: Client;
let visitor: ConsoleVisitor;
beforeAll(async () => {
  forgetLastId(); // Other tests may have made ids with a future time.
  server = testApp({ dashboard: true });
  client = await server.client();
  visitor = await visitorOf(server, "viewer");
});
afterAll(async () => await server[Symbol.asyncDispose]());

/** A run that waits for its client; large arguments are stored apart. */
async function waitingRun(size = 1) {
  const { body: tool } = await client.post("/v1/tools", { name: `ask_${newId("tool").slice(-8)}`, type: "client" });
  const script = [{ tool_calls: [{ name: tool.name, arguments: { text: "x".repeat(size) } }] }, { text: "Done." }];
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const answer = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Go." });
  const [call] = answer.body.required_action.submit_tool_outputs.tool_calls;
  return { id: answer.body.id, request: answer.headers.get("x-request-id")!, call: call.tool_call_id };
}

const find = (id: string, environment = "test") =>
  visitor.send("GET", `/${client.scope.project_id}/${environment}/runs/of/${id}`);

test("a request id leads to the run that it created, and a tool call id to its run", async () => {
  const [first, second] = [await waitingRun(), await waitingRun()];
  for (const { id, request, call } of [first, second]) {
    expect((await find(request)).body).toMatchObject({ object: "run", id });
    expect((await find(call)).body).toMatchObject({ object: "run", id });
  }
});

test("a call is found after it was answered, and even if its arguments are large", async () => {
  const { id, call } = await waitingRun(8000);
  expect((await find(call)).status).toBe(200);
  const answer = { tool_outputs: [{ tool_call_id: call, output: 1 }], stream: true };
  await client.post(`/v1/runs/${id}/submit_tool_outputs`, answer);
  expect((await find(call)).body.id).toBe(id);
  const { body: copy } = await client.post(`/v1/runs/${id}/replay`, {});
  expect(copy.replay_of).toBe(id);
  expect((await find(call)).body.id).toBe(id);
});

test("nothing is found of another environment, of no run, or of no such kind", async () => {
  const { id, request, call } = await waitingRun();
  for (const each of [request, call]) expect((await find(each, "live")).status).toBe(404);
  for (const each of [newId("request"), newId("tool_call"), id, "call_1", "nonsense"])
    expect((await find(each)).status).toBe(404);
});
