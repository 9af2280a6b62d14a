import { expect, test } from "bun:test";
import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import { prefixOf } from "../domain/fork.ts";
import { modelRequest } from "../domain/prompt.ts";
import { fold } from "../domain/run-state.ts";
import { type Db, openDatabase } from "../storage/db/open.ts";
import { handoffTool, runFixture, teamMember, tool } from "../testing/run-fixture.ts";

const transfer = { name: "transfer_to_refunds", arguments: {} };
const look = { name: "look", arguments: {} };
const rule = (pattern: string, action: "redact" | "block" | "flag"): Partial<AgentSnapshot> => ({
  guardrails: [{ type: "regex", on: ["input"], action, config: { pattern } }],
});

type Fixture = ReturnType<typeof runFixture>;

/** Starts a run that waits for a client, hands over with the answer, and gets messages meanwhile. */
async function handedOver(
  fixture: Fixture,
  next: Partial<AgentSnapshot>,
  sent: readonly string[],
  own: Partial<AgentSnapshot> = {},
  answers = [[look, transfer]],
) {
  const team = [teamMember("agt_refunds", [{ text: "Done." }], next)];
  const { id } = await fixture.start(
    answers.map((tool_calls) => ({ tool_calls })),
    {
      tools: [tool("look"), handoffTool("agt_refunds")],
      agent: { team, ...own },
      run: {
        input: [
          { role: "user", content: "My IBAN is old." },
          { role: "assistant", content: "I know the IBAN." },
          { role: "user", content: "Take the IBAN." },
        ],
      },
    },
  );
  const [call] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
  for (const content of sent) await fixture.service.steer(fixture.author, id, { content });
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "3 orders" }]);
  return { id, run: await fixture.settled(id) };
}

/** Returns the texts of the last model call's prompt, without the instructions. */
function lastPrompt({ journal, scope }: Fixture, id: string): string {
  const entries = journal.read(id);
  const begun = entries.findLast(({ event }) => event.type === "step.started" && event.step_type === "model_call")!;
  const state = fold(entries.slice(0, begun.seq - 1));
  const { messages } = modelRequest(state, journal.snapshot(scope, state.run.agent_hash));
  return JSON.stringify(messages.slice(1));
}

test("a handoff masks all that the user said in the run by the rules of the agent that takes over", async () => {
  using fixture = runFixture();
  const { id, run } = await handedOver(fixture, rule("IBAN", "redact"), ["It is IBAN 1.", "No, IBAN 2."]);
  expect(run.status).toBe("completed");
  expect(lastPrompt(fixture, id)).not.toContain("IBAN");
  expect(JSON.stringify([run.input, run.messages])).not.toContain("IBAN");
  expect(run.messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "My [removed] is old.",
    "Take the [removed].",
    "It is [removed] 1.",
    "No, [removed] 2.",
  ]);
  const decided = fixture.journal.read(id).flatMap(({ event }) => (event.type === "guardrail.decided" ? [event] : []));
  expect(decided.map(({ message_id, matches }) => [message_id !== undefined, matches])).toEqual([
    [false, 1],
    [false, 1],
    [false, 1],
    [true, 1],
    [true, 1],
  ]);
});

test("an earlier message that the next agent's rules block ends the run", async () => {
  using fixture = runFixture();
  const { run } = await handedOver(fixture, rule("forbidden", "block"), ["Something forbidden."]);
  expect(run).toMatchObject({ status: "failed", error: { code: "guardrail_blocked" }, last_agent_id: "agt_refunds" });
  expect(JSON.stringify(run.messages)).not.toContain("forbidden");
});

test("a fork from before the handoff has no decision of the agent that took over", async () => {
  using fixture = runFixture();
  const { id } = await handedOver(fixture, rule("forbidden", "block"), ["Something forbidden."], {}, [
    [look],
    [transfer],
  ]);
  const { entries } = prefixOf(fixture.journal.read(id), 1);
  const types = entries.map(({ event }) => event.type);
  expect(types).toContain("run.steered");
  expect(types).not.toContain("guardrail.decided");
});

test("findings of the agent before are recorded before the handoff, so that they are not those of the next", async () => {
  using fixture = runFixture();
  const { id, run } = await handedOver(fixture, rule("2", "flag"), ["IBAN 1"], rule("1", "flag"));
  expect(run.status).toBe("completed");
  const { seq } = fixture.journal.read(id).find(({ event }) => event.type === "handoff.completed")!;
  const decided = fixture.journal.read(id).filter(({ event }) => event.type === "guardrail.decided");
  expect(decided.map((entry) => entry.seq < seq)).toEqual([true]);
});

test("a message that comes while a handoff is made is checked by the rules of the agent that takes over, too", async () => {
  const db = openDatabase(":memory:");
  let left = Number.POSITIVE_INFINITY;
  let beforeWrite = async (): Promise<void> => {};
  const late = async (...given: Parameters<Db["write"]>): Promise<unknown> => {
    if (--left === 0) await beforeWrite();
    return db.write(...given);
  };
  using fixture = runFixture({ db: { ...db, write: Object.assign(late, db.write) as Db["write"] } });
  const team = [teamMember("agt_refunds", [{ text: "Done." }], rule("IBAN", "redact"))];
  const { id } = await fixture.start([{ tool_calls: [look, transfer] }], {
    tools: [tool("look"), handoffTool("agt_refunds")],
    agent: { team },
  });
  const [call] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
  beforeWrite = () => fixture.service.steer(fixture.author, id, { content: "It is the IBAN." });
  // The answer is one write, the handoff the next.
  left = 2;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: "3 orders" }]);
  expect((await fixture.settled(id)).status).toBe("completed");
  const types = fixture.journal.read(id).map(({ event }) => event.type);
  expect(types.filter((type) => type === "run.steered" || type === "handoff.completed")).toEqual([
    "run.steered",
    "handoff.completed",
  ]);
  expect(lastPrompt(fixture, id)).toContain("It is the [removed].");
});
