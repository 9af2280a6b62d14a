import { describe, expect, test } from "bun:test";
import { createReplayScreen } from "../runtime/guardrails/replay-screen.ts";
import { corpus, type Recorded } from "../testing/corpus.ts";
import { tool } from "../testing/run-fixture.ts";
import type { AgentSnapshot, Guardrail, HttpTool, ToolBase } from "./agent-snapshot.ts";
import type { LocatedDivergence } from "./divergence.ts";
import { lastCopiedSeq, replay } from "./replay.ts";
import type { JournalEntry, RunEvent } from "./run-event.ts";

const recorded = (name: string): Recorded => corpus.find((one) => one.name === name)!;

async function divergences(
  entries: readonly JournalEntry[],
  agent: AgentSnapshot,
  pinned = agent,
): Promise<LocatedDivergence[]> {
  const found: LocatedDivergence[] = [];
  const against = { agent, pinned, screen: createReplayScreen(agent, pinned), rest: async () => {} };
  for await (const one of replay(entries, against)) found.push(one);
  return found;
}

const places = (found: readonly LocatedDivergence[]) => found.map(({ step_index, kind }) => [step_index, kind]);

/** Returns the entries of the record itself: those of a fork follow its copied part. */
function own(entries: readonly JournalEntry[]): JournalEntry[] {
  const [{ event }] = entries as [JournalEntry];
  const from = event.type === "run.created" ? (lastCopiedSeq(event) ?? 0) : 0;
  return entries.filter(({ seq }) => seq > from);
}

describe("a record of an earlier version", () => {
  test.each(corpus.map(({ name }) => name))(
    "%s comes out the same with the agent that it was made with",
    async (name) => {
      const { entries, agent } = recorded(name);
      expect(await divergences(entries, agent)).toEqual([]);
    },
  );

  test("does not with other instructions, from the first model call on, which is named by its hash", async () => {
    let asked = 0;
    for (const { entries, agent } of corpus) {
      const first = own(entries).find(({ event }) => event.type === "step.started" && event.step_type === "model_call");
      const [found] = await divergences(entries, { ...agent, instructions: "Something else." }, agent);
      if (first?.event.type !== "step.started") continue;
      asked++;
      expect(found).toMatchObject({
        seq: first.seq,
        step_index: first.event.step_index,
        kind: "prompt",
        expected_hash: first.event.input_hash!,
      });
      expect(found!.actual_hash).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(asked).toBeGreaterThan(20);
  });

  test("in which a tool's result was changed asks the model something else", async () => {
    let changed = 0;
    for (const { entries, agent } of corpus) {
      // No model reads the result of a handoff.
      const result = own(entries).find(
        ({ event }) =>
          event.type === "tool.completed" && event.status === "completed" && !event.tool.startsWith("transfer_to_"),
      );
      const next = entries.find(
        ({ seq, event }) =>
          seq > (result?.seq ?? Number.POSITIVE_INFINITY) &&
          event.type === "step.started" &&
          event.step_type === "model_call",
      );
      if (!result || !next) continue;
      changed++;
      const other = entries.map((entry) =>
        entry === result ? { ...entry, event: { ...entry.event, output: "otherwise" } as RunEvent } : entry,
      );
      expect(await divergences(other, agent)).toContainEqual(
        expect.objectContaining({ seq: next.seq, kind: "prompt" }),
      );
    }
    expect(changed).toBeGreaterThan(8);
  });

  test("without the beginning of a step, or the arguments of a tool call, is inconsistent", async () => {
    const decisive = new Set(["step.started", "tool.requested"]);
    for (const { entries, agent } of corpus)
      for (const { seq } of own(entries).filter(({ seq, event }) => seq > 1 && decisive.has(event.type))) {
        const left = entries.filter((entry) => entry.seq !== seq).map((entry, index) => ({ ...entry, seq: index + 1 }));
        expect(await divergences(left, agent)).not.toEqual([]);
      }
  });
});

describe("a change of the agent shows where it would tell", () => {
  // Step 0 requests `a` and `b` (steps 1 and 2) and an unknown tool; step 4 says "Done."
  const { entries, agent } = recorded("v1/parallel-tools");
  const withTool = (name: string, more: Partial<ToolBase>): Partial<AgentSnapshot> => ({
    tools: agent.tools.map((one) => (one.name === name ? { ...one, ...more } : one)),
  });
  const sent: Pick<HttpTool, "type" | "http"> = {
    type: "http",
    http: { url: "", method: "POST", timeout_ms: 5000, retries: 0, response: "json", sealed: "" },
  };
  const guardrail = (
    on: Guardrail["on"][number],
    action: Guardrail["action"],
    term: string,
  ): Partial<AgentSnapshot> => ({
    guardrails: [{ type: "blocked_terms", on: [on], action, config: { terms: [term] } }],
  });

  test.each<[string, Partial<AgentSnapshot>, unknown[]]>([
    ["nothing", {}, []],
    ["a name, which nobody is told", { name: "Other" }, []],
    ["where a tool is found, which the model is not told", withTool("a", { id: "tool_other" }), []],
    ["another model", { model: "test/echo" }, [[0, "prompt"]]],
    [
      "what a tool is said to do",
      withTool("a", { description: "New." }),
      [
        [0, "prompt"],
        [4, "prompt"],
      ],
    ],
    ["a person's word for a call", withTool("b", { approval: "always" }), [[2, "tool_call"]]],
    [
      "who makes a call",
      { tools: agent.tools.map((one) => (one.name === "b" ? { ...one, ...sent } : one)) },
      [[2, "tool_call"]],
    ],
    ["fewer turns", { max_turns: 1 }, [[4, "decision"]]],
    [
      "a form of the answer",
      { output_schema: { type: "number" } },
      [
        [0, "prompt"],
        [4, "prompt"],
        [4, "decision"],
      ],
    ],
    ["a guardrail that blocks the input", guardrail("input", "block", "hello"), [[0, "guardrail"]]],
    ["one that redacts an answer", guardrail("output", "redact", "done"), [[4, "guardrail"]]],
    [
      "one that blocks a call",
      guardrail("tool_call", "block", "rome"),
      [
        [1, "guardrail"],
        [2, "guardrail"],
      ],
    ],
    ["one that only takes note", guardrail("input", "flag", "hello"), []],
    ["one that finds nothing", guardrail("input", "block", "swordfish"), []],
  ])("%s", async (_, more, expected) => {
    expect(places(await divergences(entries, { ...agent, ...more }, agent))).toEqual(
      expected as [number, LocatedDivergence["kind"]][],
    );
  });

  test("a tool that is gone is missed in the prompt and by its call", async () => {
    const found = await divergences(entries, { ...agent, tools: [tool("b", { id: "tool_b" })] }, agent);
    expect(places(found).slice(0, 2)).toEqual([
      [0, "prompt"],
      [1, "tool_call"],
    ]);
    expect(found[1]).toMatchObject({
      expected: { refused: null },
      actual: { type: "unknown", refused: "tool_not_found" },
    });
  });

  test("a guardrail that is gone takes no other's word with it", async () => {
    const { entries: judged, agent: left } = recorded("v2/blocked-call");
    const [{ type, on, action } = {}] = left.guardrails ?? [];
    const gone = { type, on, action, config: { terms: ["nobody says this"] } } as Guardrail;
    expect(await divergences(judged, left, { ...left, guardrails: [...left.guardrails!, gone] })).toEqual([]);
  });

  test("a guardrail that is gone does not say its word", async () => {
    const { entries: judged, agent: with_ } = recorded("v2/blocked-call");
    const [found] = await divergences(judged, { ...with_, guardrails: [] }, with_);
    expect(found).toMatchObject({ kind: "guardrail", expected: { verdict: "blocked" }, actual: { verdict: "passed" } });
  });
});
