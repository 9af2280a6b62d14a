import { expect, test } from "bun:test";
import { capsuleOf, importCapsule } from "../../testing/capsules.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const guardrails = [{ type: "regex", on: ["input"], action: "redact", config: { pattern: "secret" } }];
const call = { name: "look", arguments: {} };

const said = (run: { messages: { role: string; content: string }[] }) =>
  run.messages.map(({ role, content }) => `${role}: ${content}`);

/** A run that got a message while it waited, and then an interrupting one. */
async function steeredRun(server: TestApp, client: Client) {
  const { body: tool } = await client.post("/v1/tools", { name: "look" });
  const script = [
    { text: "Wait.", tool_calls: [call] },
    { text: "It is blue", delta_ms: 60_000 },
    { text: "It is red." },
    { text: "Done." },
  ];
  const { body: agent } = await client.post("/v1/agents", {
    name: "Clerk",
    instructions: "",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
    guardrails,
  });
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  await client.post(`/v1/runs/${run.id}/messages`, { role: "user", content: "My secret" });
  const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, output: "blue" }];
  await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  const watch = server.watches.join(run.id);
  while ((watch.live()?.length ?? 0) === 0) await watch.next(10_000);
  watch.leave();
  await client.post(`/v1/runs/${run.id}/messages`, { role: "user", content: "Stop", interrupt: true });
  return settledRun(server, client, run.id);
}

test("a steered run is replayed, forked before and after each message, exported and imported with its messages", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await steeredRun(server, client);
  const whole = [
    "user: Hello",
    "assistant: Wait.",
    "user: My [removed]",
    "tool: blue",
    "assistant: It ",
    "user: Stop",
    "assistant: It is red.",
  ];
  expect(said(run)).toEqual(whole);

  for (const mode of ["strict", "verify"]) {
    const { body } = await client.post(`/v1/runs/${run.id}/replay`, { mode });
    expect([body.status, body.replay.divergences]).toEqual(["completed", []]);
    expect(said(body)).toEqual(whole);
  }

  const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
  const kinds = steps.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`);
  expect(kinds).toEqual([
    "model_call completed",
    "tool_call completed",
    "guardrail completed",
    "model_call cancelled",
    "model_call completed",
  ]);
  const shown = steps[4].input.messages.map(({ content }: { content: string }) => content);
  expect(shown).toEqual(["It ", "Stop"]);

  const { body: interrupted } = await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: 3 });
  expect([interrupted.status, said(interrupted)]).toEqual(["completed", whole]);
  /** Messages of a fork whose model is about to answer. */
  const forkedAt = async (step_index: number) => {
    const { body } = await client.post(`/v1/runs/${run.id}/fork`, { step_index });
    const cancelled = await client.post(`/v1/runs/${body.id}/cancel`, {});
    return said(cancelled.body).slice(0, 4);
  };
  const [hello, wait, my, blue] = whole;
  // A fork keeps all results of the step's answer, and what came before them.
  for (const step of [0, 1]) expect(await forkedAt(step)).toEqual([hello!, wait!, my!, blue!]);
  expect((await forkedAt(-1))[0]).toBe(hello!);
  expect(await forkedAt(-1)).not.toContain(my!);

  const other = await server.client({ project: "other" });
  const { status, body: trace } = await importCapsule(server, other, await capsuleOf(server, client, run.id));
  expect(status).toBe(201);
  expect(said((await other.get(`/v1/runs/${trace.run_id}`)).body)).toEqual(whole);
});
