import { describe, expect, test } from "bun:test";
import type { AgentSnapshot, HandoffFilter } from "../domain/agent-snapshot.ts";
import { limits } from "../domain/limits.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { modelRequest } from "../domain/prompt.ts";
import { fold } from "../domain/run-state.ts";
import { type Db, openDatabase } from "../storage/db/open.ts";
import { rejection } from "../testing/rejection.ts";
import { handoffTool, runFixture, teamMember, textOfFrames, tool } from "../testing/run-fixture.ts";

const transfer = (to: string, reason?: string, text?: string): ScriptEntry => ({
  ...(text !== undefined && { text }),
  tool_calls: [{ name: `transfer_to_${to}`, arguments: reason === undefined ? {} : { reason } }],
});
const toRefunds = handoffTool("agt_refunds");
const refunds = teamMember("agt_refunds", [{ text: "Your money is on its way." }]);

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

/** Returns the messages of a prompt, shortened. */
const shown = (messages: ReturnType<typeof modelRequest>["messages"]): string[] =>
  messages.map((message) => {
    if (message.role === "tool") return `tool: ${message.output}`;
    if (message.role !== "assistant") return `${message.role}: ${message.content}`;
    return `assistant: ${message.parts.map((part) => (part.type === "tool_call" ? `<${part.name}>` : part.text)).join("")}`;
  });

describe("a handoff", () => {
  test("lets another agent answer in the same run and the same stream", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([transfer("refunds")], { tools: [toRefunds], agent: { team: [refunds] } });
    const run = await fixture.settled(id);
    expect(run).toMatchObject({
      status: "completed",
      output: "Your money is on its way.",
      agent_id: "agt_fixture",
      last_agent_id: "agt_refunds",
    });
    expect(run.messages.at(-1)).toMatchObject({ role: "assistant", agent_id: "agt_refunds" });
    expect(run.messages[1]).not.toHaveProperty("agent_id");
    const frames = await fixture.stream(id);
    expect(textOfFrames(frames)).toBe("Your money is on its way.");
    expect(frames.filter(({ event }) => event === "handoff.completed").map(({ data }) => data)).toMatchObject([
      { from_agent_id: "agt_fixture", agent_id: "agt_refunds", agent_name: "refunds", reason: null },
    ]);
    expect(frames.at(-1)!.event).toBe("run.completed");
  });

  test("lets the guardrails of the agent that answers now screen the messages that come, not those of the first", async () => {
    using fixture = runFixture();
    const screens = (pattern: string): Partial<AgentSnapshot> => ({
      guardrails: [{ type: "regex", on: ["input"], action: "redact", config: { pattern } }],
    });
    const next = teamMember("agt_refunds", [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }], {
      ...screens("IBAN"),
      tools: [tool("look")],
    });
    const agent = { ...screens("refund"), team: [next] };
    const { id } = await fixture.start([transfer("refunds")], { tools: [toRefunds], agent });
    expect(await fixture.settled(id)).toMatchObject({ status: "requires_action", last_agent_id: "agt_refunds" });
    await fixture.service.steer(fixture.author, id, { content: "The refund goes to the IBAN." });
    const { messages } = fixture.runs.get(fixture.scope, id);
    expect(messages.at(-1)).toMatchObject({ role: "user", content: "The refund goes to the [removed]." });
  });

  test("that comes while a message is screened lets the next agent's guardrails screen it, before it is stored", async () => {
    const db = openDatabase(":memory:");
    let first: (() => Promise<unknown>) | null = null;
    const late = async (...given: Parameters<Db["write"]>): Promise<unknown> => {
      const before = first;
      first = null;
      await before?.();
      return db.write(...given);
    };
    using fixture = runFixture({ db: { ...db, write: Object.assign(late, db.write) as Db["write"] } });
    const next = teamMember("agt_refunds", [{ delay_ms: 3_600_000 }], {
      guardrails: [{ type: "regex", on: ["input"], action: "redact", config: { pattern: "IBAN" } }],
    });
    const { id } = await fixture.start(
      [{ tool_calls: [...transfer("refunds").tool_calls!, { name: "look", arguments: {} }] }],
      { tools: [tool("look"), toRefunds], agent: { team: [next] } },
    );
    const [call] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
    first = async () => {
      await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "3 orders" }]);
      await fixture.until(id, ({ event }) => event.type === "handoff.completed");
    };
    await fixture.service.steer(fixture.author, id, { content: "It goes to the IBAN." });
    const { event } = await fixture.until(id, ({ event }) => event.type === "run.steered");
    expect(event).toMatchObject({ content: "It goes to the [removed]." });
    expect(fixture.journal.read(id).filter(({ event }) => event.type === "run.steered")).toHaveLength(1);
  });

  test("that a call asks for lets a message come after the last model call of the agent before", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(
      [{ tool_calls: [...transfer("refunds").tool_calls!, { name: "look", arguments: {} }] }],
      {
        tools: [tool("look"), toRefunds],
        agent: { max_turns: 1, team: [refunds] },
      },
    );
    const waiting = await fixture.settled(id);
    await fixture.service.steer(fixture.author, id, { content: "Be quick." });
    const [call] = waiting.required_action!.submit_tool_outputs.tool_calls;
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "3 orders" }]);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", last_agent_id: "agt_refunds" });
    expect(shown(requestsOf(fixture, id)[1]!.messages)).toContain("user: Be quick.");
  });

  test("beyond the ten of a run lets no message come after the last model call: no other call would have it", async () => {
    using fixture = runFixture();
    const last = { tool_calls: [...transfer("sales").tool_calls!, { name: "look", arguments: {} }] };
    const times = limits.handoffs_per_run / 2;
    const sales = teamMember("agt_sales", Array(times).fill(transfer("fixture")), {
      tools: [handoffTool("agt_fixture")],
      max_turns: 1,
    });
    const { id } = await fixture.start([...Array(times).fill(transfer("sales")), last], {
      tools: [tool("look"), handoffTool("agt_sales")],
      agent: { max_turns: 1, team: [sales] },
    });
    const waiting = await fixture.settled(id);
    const [call] = waiting.required_action!.submit_tool_outputs.tool_calls;
    const sent = fixture.service.steer(fixture.author, id, { content: "Be quick." });
    expect(await rejection(sent)).toMatchObject({ code: "run_not_steerable" });
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "3 orders" }]);
    const run = await fixture.settled(id);
    expect([run.status, run.error?.code]).toEqual(["failed", "max_turns_exceeded"]);
    expect(run.tool_calls.flatMap(({ error }) => error?.code ?? [])).toEqual(["too_many_handoffs"]);
  });

  test("gives the next agent its own instructions only, and no call or reasoning that is not its own", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([{ ...transfer("refunds"), reasoning: "A refund." }], {
      tools: [toRefunds],
      agent: { team: [refunds] },
    });
    await fixture.settled(id);
    const [first, second] = requestsOf(fixture, id);
    expect(shown(first!.messages)).toEqual(["system: Follow the script.", "user: Hello"]);
    expect(shown(second!.messages)).toEqual(["system: You are agt_refunds.", "user: Hello"]);
    expect(second!.tools).toEqual([]);
  });

  test("tells the next agent the reason, and never ends the prompt with an answer", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([transfer("refunds", "They want\nmoney.", "One moment.")], {
      tools: [toRefunds],
      agent: { team: [refunds] },
    });
    await fixture.settled(id);
    expect(shown(requestsOf(fixture, id)[1]!.messages)).toEqual([
      "system: You are agt_refunds.",
      "user: Hello",
      "assistant: One moment.",
      'user: [The agent "Fixture" handed this conversation over to you. Its reason: "They want money."]',
    ]);
  });

  test("comes after the other calls of its answer, whose results go along", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(
      [{ tool_calls: [...transfer("refunds").tool_calls!, { name: "look", arguments: {} }] }],
      { tools: [tool("look"), toRefunds], agent: { team: [refunds] } },
    );
    const waiting = await fixture.settled(id);
    const calls = waiting.required_action!.submit_tool_outputs.tool_calls;
    expect(calls.map((call) => call.name)).toEqual(["look"]);
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: calls[0]!.tool_call_id, output: "3 orders" }]);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", last_agent_id: "agt_refunds" });
    expect(shown(requestsOf(fixture, id)[1]!.messages)).toEqual([
      "system: You are agt_refunds.",
      "user: Hello",
      "assistant: <look>",
      "tool: 3 orders",
    ]);
  });

  test("is made once: of two in one answer the first counts, and the other gets an error", async () => {
    using fixture = runFixture();
    const other = teamMember("agt_sales", [{ text: "Buy!" }]);
    const both = [...transfer("refunds").tool_calls!, ...transfer("sales").tool_calls!];
    const { id } = await fixture.start([{ tool_calls: both }], {
      tools: [toRefunds, handoffTool("agt_sales")],
      agent: { team: [refunds, other] },
    });
    const run = await fixture.settled(id);
    expect(run.output).toBe("Your money is on its way.");
    expect(run.tool_calls).toMatchObject([
      { status: "completed", error: null },
      { status: "failed", error: { code: "handoff_ignored" } },
    ]);
  });

  test("may lead on and back, and each agent goes on with its own script of answers", async () => {
    using fixture = runFixture();
    const sales = teamMember("agt_sales", [transfer("fixture")], { tools: [handoffTool("agt_fixture")] });
    const { id } = await fixture.start([transfer("sales"), { text: "Here I am again." }], {
      tools: [handoffTool("agt_sales")],
      agent: { team: [sales] },
    });
    const run = await fixture.settled(id);
    expect(run).toMatchObject({ output: "Here I am again.", last_agent_id: "agt_fixture" });
    expect(shown(requestsOf(fixture, id)[2]!.messages)).toEqual(["system: Follow the script.", "user: Hello"]);
  });

  test("is refused after ten of them, with an error that tells the agent to answer itself", async () => {
    using fixture = runFixture();
    const pingPong = (to: string): ScriptEntry[] => [...Array(6).fill(transfer(to)), { text: "I answer." }];
    const sales = teamMember("agt_sales", pingPong("fixture"), { tools: [handoffTool("agt_fixture")] });
    const { id } = await fixture.start(pingPong("sales"), {
      tools: [handoffTool("agt_sales")],
      agent: { team: [sales] },
    });
    const run = await fixture.settled(id);
    const errors = run.tool_calls.flatMap(({ error }) => (error ? [error.code] : []));
    expect(run.status).toBe("completed");
    expect(run.tool_calls.filter(({ status }) => status === "completed").length).toBe(limits.handoffs_per_run);
    expect(errors).toEqual(["too_many_handoffs"]);
  });

  test("to an agent that the run does not know is an error, and the agent answers itself", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([transfer("refunds"), { text: "I do it." }], { tools: [toRefunds] });
    expect(await fixture.settled(id)).toMatchObject({
      output: "I do it.",
      tool_calls: [{ error: { code: "agent_not_found" } }],
    });
  });
});

const filters: [HandoffFilter, string[]][] = [
  ["all", ["user: One", "assistant: Two", "user: Hello", "assistant: <look>", "tool: 3 orders"]],
  ["last_message", ["user: Hello"]],
  ["no_tool_calls", ["user: One", "assistant: Two", "user: Hello"]],
  [{ messages: 2 }, ["user: Hello", "assistant: <look>", "tool: 3 orders"]],
  [{ messages: 1 }, ["user: Hello"]],
  [{ messages: 4 }, ["assistant: Two", "user: Hello", "assistant: <look>", "tool: 3 orders"]],
];
test.each(filters)("with the filter %j, what goes along is whole: no result without its call", async (filter, told) => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ tool_calls: [{ name: "look", arguments: {} }] }, transfer("refunds")], {
    tools: [tool("look"), handoffTool("agt_refunds", filter)],
    agent: { team: [refunds] },
    run: {
      input: [
        { role: "user", content: "One" },
        { role: "assistant", content: "Two" },
        { role: "user", content: "Hello" },
      ],
    },
  });
  const [call] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "3 orders" }]);
  await fixture.settled(id);
  expect(shown(requestsOf(fixture, id).at(-1)!.messages)).toEqual(["system: You are agt_refunds.", ...told]);
});
