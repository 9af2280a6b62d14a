import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Frame, textsOf } from "./event-stream.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer, wordsOf } from "./model-server.ts";

// Guardrails on the executable: blocked text is in no stream, no response and no file, also after a crash.

// The model writes the secret in three pieces; the pattern, which is stored, does not contain it.
const secret = "holds the word";
const guardrail = (action: string, ...on: string[]) => ({
  type: "regex",
  on,
  action,
  config: { pattern: String.raw`holds\s+the\s+word` },
});
const judge = (on: string) => ({
  type: "llm_judge",
  on: [on],
  action: "block",
  config: { prompt: "It may not speak of what is forbidden.", model: "test/judge" },
});
const textOf = (frames: readonly Frame[]): string => textsOf(frames).join("");
const without = (text: string): string => text.replaceAll(secret, "[removed]");

/** Returns the places that hold the text among everything that the server wrote, its log included. */
function findIn(server: Runnel, text: string): string[] {
  const files = readdirSync(server.dataDir, { recursive: true }).map((name) => join(server.dataDir, String(name)));
  const found = files.filter((file) => statSync(file).isFile() && readFileSync(file).includes(text));
  return server.log().includes(text) ? [...found, "log"] : found;
}

test("redacted text is stored nowhere, also when the process dies in the middle of the answer", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, "words-100-10", { guardrails: [guardrail("redact", "input", "output")] });
  const created = await server.post("/v1/runs", { agent_id, input: `What ${secret} run?` });
  const { id } = created.body;
  const first = await server.stream(`/v1/runs/${id}/events`);
  await first.until(() => textOf(first.frames).includes("[removed] run"));
  await server.kill9();
  await first.rest();
  expect(findIn(server, secret)).toEqual([]);
  await server.restart();
  const second = await server.stream(`/v1/runs/${id}/events`, { after: first.lastId() });
  await second.rest();
  const { body: run } = await server.get(`/v1/runs/${id}`);
  expect(run).toMatchObject({ status: "completed", input: "What [removed] run?", output: without(wordsOf(100)) });
  expect(textOf([...first.frames, ...second.frames])).toBe(run.output);
  const trace = await server.get(`/v1/traces/${id}?include=raw`);
  expect(trace.body.steps.filter(({ type }: Json) => type === "guardrail")).toMatchObject([
    { name: "regex", output: { verdict: "redacted", matches: 1 } },
    { name: "regex", output: { verdict: "redacted", matches: 5 } },
  ]);
  const told = JSON.stringify([created.body, run, first.frames, second.frames, trace.body]);
  expect(told).not.toContain(secret);
  expect(JSON.stringify(model.requests)).not.toContain(secret);
  expect(findIn(server, secret)).toEqual([]);
  expect(findIn(server, "[removed]")).not.toEqual([]);
});

test("a block ends the run: of the input before the model is called, of the answer before it is sent", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, "words-2000-5", { guardrails: [guardrail("block", "input", "output")] });
  const blocked = (on: string, index = 0) => ({
    status: "failed",
    error: { code: "guardrail_blocked", guardrail: { index, on } },
  });
  const asked = await runToEnd(server, agent_id, { input: secret });
  expect(asked).toMatchObject({ ...blocked("input"), usage: { model_calls: 0 } });
  expect(model.requests).toHaveLength(0);
  const answered = await runToEnd(server, agent_id);
  expect(answered).toMatchObject({ ...blocked("output"), output: "a stream that is small " });
  await model.requests[0]!.aborted;
  expect(findIn(server, secret)).toEqual([]);

  const script = [{ text: "Nothing of the kind." }];
  const judged = await createScripted(server, script, { guardrails: [judge("input"), judge("output")] });
  expect(await runToEnd(server, judged, { input: "Tell what is forbidden." })).toMatchObject(blocked("input"));
  expect(await runToEnd(server, judged)).toMatchObject({ status: "completed", usage: { model_calls: 3 } });
});

test("calls to the client and its outputs are checked on the way", async () => {
  await using server = await startRunnel();
  const { id, name } = await createTool(server, { type: "client" });
  const script = [{ tool_calls: [{ name, arguments: { city: "Oslo" } }] }, { text: "So." }];
  const guardrails = [
    guardrail("redact", "tool_output"),
    { type: "tool_allowlist", on: ["tool_call"], action: "require_approval", config: { tools: [] } },
  ];
  const agent_id = await createScripted(server, script, { tools: [id], guardrails });
  const run = await runToEnd(server, agent_id);
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  expect(call.needs).toBe("approval");
  const answer = (more: object) =>
    server.post(`/v1/runs/${run.id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, ...more }],
    });
  expect((await answer({ decision: "approve" })).status).toBe(200);
  expect((await answer({ output: { said: secret } })).status).toBe(200);
  await using stream = await server.stream(`/v1/runs/${run.id}/events`);
  await stream.rest();
  const { body: ended } = await server.get(`/v1/runs/${run.id}`);
  expect(ended).toMatchObject({ status: "completed", tool_calls: [{ output: { said: "[removed]" } }] });
  expect(findIn(server, secret)).toEqual([]);
});
