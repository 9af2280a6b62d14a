import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { modelRequest } from "../../domain/prompt.ts";
import { fold } from "../../domain/run-state.ts";
import { threadMessages } from "../../domain/thread-messages.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { runFixture, tool } from "../../testing/run-fixture.ts";

// Cases in which messages to running agents have been lost, doubled or refused by providers elsewhere.

type Fixture = ReturnType<typeof runFixture>;

/** Returns the requests of all model calls of a run, computed from its journal. */
function requestsOf({ journal, scope }: Fixture, id: string) {
  const entries = journal.read(id);
  return entries.flatMap(({ seq, event }) => {
    if (event.type !== "step.started" || event.step_type !== "model_call") return [];
    const state = fold(entries.slice(0, seq - 1));
    return modelRequest(state, journal.snapshot(scope, state.run.agent_hash));
  });
}
const look = { name: "look", arguments: {} };
const answer = async (fixture: Fixture, id: string) => {
  const [call] = fixture.runs.get(fixture.scope, id).required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "ok" }]);
};

test("a message that comes while the conversation is summarised is in the next model call, once, and not in the summary", async () => {
  const db = openDatabase(":memory:");
  let before = async (): Promise<void> => {};
  const late = async (...given: Parameters<Db["write"]>): Promise<unknown> => {
    await before();
    return db.write(...given);
  };
  using fixture = runFixture({ db: { ...db, write: Object.assign(late, db.write) as Db["write"] }, window: 900 });
  const talkative: ScriptEntry[] = Array.from({ length: 5 }, (_, turn) => ({
    text: `Turn ${turn}: ${"so much is said ".repeat(20)}`,
    tool_calls: [{ name: "look", arguments: { turn } }],
  }));
  const context = { strategy: "compact" as const, reserve_output_tokens: 50, tool_output_max_bytes: 40_000 };
  const { id } = await fixture.start([...talkative, { text: "Done." }], {
    tools: [tool("look")],
    agent: { memory: { stores: [], history: { mode: "thread", max_messages: 50 }, context } },
  });
  let isSent = false;
  before = async () => {
    const last = fixture.journal.read(id).at(-1)!.event;
    if (isSent || last.type !== "step.started" || last.step_type !== "compaction") return;
    isSent = true;
    await fixture.service.steer(fixture.author, id, { content: "In kelvin, please.", interrupt: true });
  };
  for (let run = await fixture.settled(id); run.status === "requires_action"; run = await fixture.settled(id))
    await answer(fixture, id);
  expect([isSent, fixture.runs.get(fixture.scope, id).status]).toEqual([true, "completed"]);
  const entries = fixture.journal.read(id);
  const sentAt = entries.find(({ event }) => event.type === "run.steered")!.seq;
  const compacted = entries.find(({ seq, event }) => seq > sentAt && event.type === "context.compacted")!;
  expect(JSON.stringify(compacted)).not.toContain("kelvin");
  const next = entries.find(({ seq, event }) => seq > sentAt && event.type === "step.started")!;
  const state = fold(entries.slice(0, next.seq - 1));
  const { messages } = modelRequest(state, fixture.journal.snapshot(fixture.scope, state.run.agent_hash));
  expect(JSON.stringify(messages).split("In kelvin, please.")).toHaveLength(2);
});

test("a forced tool choice is still forced after an answer that a message interrupted", async () => {
  using fixture = runFixture();
  const script: ScriptEntry[] = [{ text: "Let me think", delta_ms: 60_000 }, { tool_calls: [look] }, { text: "Done." }];
  const { id } = await fixture.start(script, {
    tools: [tool("look")],
    agent: { settings: { script, tool_choice: "required" } },
  });
  await fixture.stream(id, undefined, ({ event }) => event === "token");
  await fixture.service.steer(fixture.author, id, { content: "Look first.", interrupt: true });
  await fixture.settled(id);
  await answer(fixture, id);
  expect((await fixture.settled(id)).output).toBe("Done.");
  expect(requestsOf(fixture, id).map(({ settings }) => settings.tool_choice)).toEqual([
    "required",
    "required",
    undefined,
  ]);
});

test("two interrupting messages, one after the other, end two calls, and the next one has both in their order", async () => {
  using fixture = runFixture();
  const slow: ScriptEntry = { text: "One two three", delta_ms: 60_000 };
  const { id } = await fixture.start([slow, { ...slow, text: "Four five" }, { text: "Done." }]);
  for (const content of ["First.", "Second."]) {
    await fixture.stream(
      id,
      undefined,
      ({ event, data }) => event === "token" && String(data.delta) !== "" && isOpen(fixture, id),
    );
    await fixture.service.steer(fixture.author, id, { content, interrupt: true });
    await fixture.until(id, ({ event }) => event.type === "step.completed");
  }
  const run = await fixture.settled(id);
  expect([run.status, run.output]).toEqual(["completed", "Done."]);
  expect(run.messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))).toEqual([
    "Hello",
    "First.",
    "Second.",
  ]);
});
const isOpen = (fixture: Fixture, id: string): boolean => fixture.journal.state(id).open.length > 0;

test("a run that is cancelled while it is paused leaves a result for each call in its thread", async () => {
  using fixture = runFixture();
  const thread_id = newId("thread");
  const { id } = await fixture.start([{ text: "I look.", tool_calls: [look, { ...look }] }], {
    tools: [tool("look")],
    run: { thread_id },
  });
  await fixture.settled(id);
  await fixture.service.pause(fixture.scope, id, null);
  await fixture.service.steer(fixture.author, id, { content: "Wait." });
  await fixture.service.cancel(fixture.scope, id, null);
  const run = await fixture.settled(id);
  expect([run.status, run.tool_calls.map(({ status }) => status)]).toEqual(["cancelled", ["cancelled", "cancelled"]]);
  const kept = threadMessages(fixture.journal.state(id)).map(({ prompt }) => prompt);
  expect(kept.map((prompt) => [prompt.role, prompt.role === "tool" ? prompt.call_id : null])).toEqual([
    ["user", null],
    ["assistant", null],
    ["tool", run.tool_calls[0]!.id],
    ["tool", run.tool_calls[1]!.id],
    ["user", null],
  ]);
});

test("a message to a run whose budget is used ends it with that error, and stays in its thread", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ tool_calls: [look] }, { text: "Done." }], {
    tools: [tool("look")],
    run: { budget: { max_total_tokens: 300 } },
  });
  await fixture.settled(id);
  await fixture.service.steer(fixture.author, id, { content: "word ".repeat(2000) });
  await answer(fixture, id);
  const run = await fixture.settled(id);
  expect(run).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
  expect(run.messages.filter(({ role }) => role === "user")).toHaveLength(2);
});
