import { expect, test } from "bun:test";
import { modelRequest } from "../domain/prompt.ts";
import { fold } from "../domain/run-state.ts";
import { handoffTool, runFixture, teamMember, tool } from "../testing/run-fixture.ts";

// Cases in which handoffs of other frameworks have failed.

type Fixture = ReturnType<typeof runFixture>;

const transfer = (to: string) => ({ name: `transfer_to_${to}`, arguments: {} });
const look = { name: "look", arguments: {} };

/** Returns the requests of all model calls of a run, computed from its journal. */
function requestsOf({ journal, scope }: Fixture, id: string) {
  const entries = journal.read(id);
  return entries.flatMap(({ seq, event }) => {
    if (event.type !== "step.started" || event.step_type !== "model_call") return [];
    const state = fold(entries.slice(0, seq - 1));
    return modelRequest(state, journal.snapshot(scope, state.run.agent_hash));
  });
}
const answer = async (fixture: Fixture, id: string, output: unknown = "ok") => {
  const [call] = fixture.runs.get(fixture.scope, id).required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output }]);
};
const handoffsIn = (fixture: Fixture, id: string): number =>
  fixture.journal.read(id).filter(({ event }) => event.type === "handoff.completed").length;

test("of two handoffs in one answer, the next agents see neither, also not the one that was refused", async () => {
  using fixture = runFixture();
  const sales = teamMember("agt_sales", [{ text: "Buy!" }]);
  const refunds = teamMember("agt_refunds", [{ tool_calls: [transfer("sales")] }], {
    tools: [handoffTool("agt_sales")],
  });
  const { id } = await fixture.start([{ text: "\n\n", tool_calls: [transfer("refunds"), transfer("sales")] }], {
    tools: [handoffTool("agt_refunds"), handoffTool("agt_sales")],
    agent: { team: [refunds, sales] },
  });
  expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Buy!" });
  for (const { messages } of requestsOf(fixture, id).slice(1))
    expect(messages.slice(1)).toEqual([{ role: "user", content: "Hello" }]);
});

test("what a guardrail found in a tool's result stays on record if the same answer hands over", async () => {
  using fixture = runFixture();
  const guardrails = [
    { type: "regex" as const, on: ["tool_output" as const], action: "redact" as const, config: { pattern: "IBAN" } },
  ];
  const refunds = teamMember("agt_refunds", [{ text: "Done." }]);
  const { id } = await fixture.start([{ tool_calls: [transfer("refunds"), look] }], {
    tools: [tool("look"), handoffTool("agt_refunds")],
    agent: { team: [refunds], guardrails },
  });
  await fixture.settled(id);
  await answer(fixture, id, "IBAN 1");
  expect((await fixture.settled(id)).status).toBe("completed");
  const decided = fixture.journal.read(id).flatMap(({ event }) => (event.type === "guardrail.decided" ? [event] : []));
  expect(decided).toMatchObject([{ verdict: "redacted", guardrail: { on: "tool_output" } }]);
  expect(JSON.stringify(requestsOf(fixture, id).at(-1)!.messages)).toContain("[removed] 1");
});

test("neither the schema of outputs nor the settings of the first agent go along, and each keeps its own", async () => {
  using fixture = runFixture();
  const output_schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const refunds = teamMember("agt_refunds", [{ tool_calls: [look] }, { text: "Plain text." }], {
    tools: [tool("look")],
    settings: { script: [{ tool_calls: [look] }, { text: "Plain text." }], tool_choice: "required" },
  });
  const { id } = await fixture.start([{ tool_calls: [transfer("refunds")] }], {
    tools: [handoffTool("agt_refunds")],
    agent: { team: [refunds], output_schema },
  });
  await fixture.settled(id);
  await answer(fixture, id);
  expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Plain text.", output_json: null });
  const requests = requestsOf(fixture, id);
  expect(requests.map((request) => request.output_schema !== undefined)).toEqual([true, false, false]);
  // A forced choice is for the first answer of each agent: it would call tools for ever.
  expect(requests.map(({ settings }) => settings.tool_choice)).toEqual([undefined, "required", undefined]);
});

test("a run that is to pause does so before a handoff, which is then made once", async () => {
  using fixture = runFixture();
  const refunds = teamMember("agt_refunds", [{ text: "Done." }]);
  const { id } = await fixture.start([{ tool_calls: [transfer("refunds"), look] }], {
    tools: [tool("look"), handoffTool("agt_refunds")],
    agent: { team: [refunds] },
  });
  await fixture.settled(id);
  await fixture.service.pause(fixture.scope, id, null);
  await answer(fixture, id);
  expect(await fixture.settled(id)).toMatchObject({ status: "paused" });
  expect(handoffsIn(fixture, id)).toBe(0);
  await fixture.service.steer(fixture.author, id, { content: "Be quick." });
  await fixture.service.resume(fixture.scope, id);
  expect(await fixture.settled(id)).toMatchObject({ status: "completed", last_agent_id: "agt_refunds" });
  expect(handoffsIn(fixture, id)).toBe(1);
  expect(requestsOf(fixture, id).at(-1)!.messages.at(-1)).toEqual({ role: "user", content: "Be quick." });
});

test("an answer that is interrupted hands over to nobody, and a run cancelled before a handoff stays with its agent", async () => {
  using fixture = runFixture();
  const refunds = teamMember("agt_refunds", [{ text: "Done." }]);
  const started = await fixture.start(
    [{ text: "I hand over now", delta_ms: 60_000, tool_calls: [transfer("refunds")] }, { text: "I stay." }],
    { tools: [handoffTool("agt_refunds")], agent: { team: [refunds] } },
  );
  await fixture.stream(started.id, undefined, ({ event }) => event === "token");
  await fixture.service.steer(fixture.author, started.id, { content: "Stay.", interrupt: true });
  expect(await fixture.settled(started.id)).toMatchObject({ status: "completed", output: "I stay." });
  expect(handoffsIn(fixture, started.id)).toBe(0);

  const { id } = await fixture.start([{ tool_calls: [transfer("refunds"), look] }], {
    tools: [tool("look"), handoffTool("agt_refunds")],
    agent: { team: [refunds] },
  });
  await fixture.settled(id);
  await fixture.service.cancel(fixture.scope, id, null);
  const run = await fixture.settled(id);
  expect(run).not.toHaveProperty("last_agent_id");
  expect(run.tool_calls.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
});
