import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hashJson } from "../lib/hash.ts";
import { namesOf, readJournal as read } from "./__fixtures__/corpus.ts";
import prompts from "./__fixtures__/journals/v1-prompts.json";
import agents from "./__fixtures__/journals/v2-memory-agents.json";
import steeredAgents from "./__fixtures__/journals/v3-agents.json";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import { type ContextPlan, planContext } from "./context.ts";
import { modelRequest } from "./prompt.ts";
import { apply, fold, type InitialState, initialState, isOver, type RunState, requireRun } from "./run-state.ts";
import { summaryRequest } from "./summary.ts";
import { traceOf } from "./trace.ts";

// Journals of earlier versions. Neither these files nor their folded states may change, because customers have journals
// like them. A state may gain fields, as events may. The pinned agents are stored beside them.
const corpus = `${import.meta.dir}/__fixtures__/journals`;
const [first, second, third, fourth] = [namesOf("v1"), namesOf("v2-memory"), namesOf("v2"), namesOf("v3")];
const names = [...first, ...second, ...third, ...fourth];

test("the corpus has journals of every kind of run", () => {
  expect([first.length, second.length, third.length, fourth.length]).toEqual([11, 13, 21, 5]);
  const types = new Set(names.flatMap((name) => read(name).map(({ event }) => event.type)));
  expect([...types].sort()).toEqual([
    "context.compacted",
    "documents.attached",
    "guardrail.decided",
    "handoff.completed",
    "history.loaded",
    "memory.retrieved",
    "output.rejected",
    "run.cancelled",
    "run.completed",
    "run.created",
    "run.failed",
    "run.pause_cancelled",
    "run.pause_requested",
    "run.paused",
    "run.queued",
    "run.recovered",
    "run.requires_action",
    "run.resumed",
    "run.started",
    "run.steered",
    "step.completed",
    "step.restarted",
    "step.started",
    "subagent.resumed",
    "subagent.started",
    "subagent.waiting",
    "tool.authorized",
    "tool.completed",
    "tool.decided",
    "tool.progress",
    "tool.requested",
  ]);
});

test.each(names)(
  "%s folds to the same in one go, entry by entry, and from any state on, which stays as it was",
  (name) => {
    const entries = read(name);
    let state: RunState | InitialState = initialState;
    for (const entry of entries) {
      const before = structuredClone(state);
      expect(fold(entries.slice(state.seq), state)).toEqual(fold(entries));
      expect(state).toEqual(before);
      state = apply(state, entry);
    }
    expect(state).toEqual(fold(entries));
  },
);

test.each(names)("%s folds to the state that it always folded to", (name) => {
  const state = fold(read(name));
  expect(JSON.parse(JSON.stringify(state))).toMatchObject(
    JSON.parse(readFileSync(`${corpus}/${name}.state.json`, "utf8")),
  );
  expect(isOver(state.status)).toBe(true);
  expect(traceOf(read(name)).state).toEqual(state);
});

test.each(names)("%s can be read up to any of its entries, and has a trace there", (name) => {
  const entries = read(name);
  entries.reduce<RunState | InitialState>((state, entry, index) => {
    const next = apply(state, entry);
    expect(traceOf(entries.slice(0, index + 1)).state).toEqual(next);
    return next;
  }, initialState);
});

const agent: AgentSnapshot = {
  id: "agt_1",
  version: 1,
  name: "Agent",
  model: "test/script",
  instructions: "Be brief.",
  settings: { script: [{ text: "Hi." }] },
  tools: [],
  max_turns: 5,
  output_schema: null,
};

// `input_hash` is a hash of the prompt: a version that makes other prompts would find divergences in every replay.
test.each(first)("%s makes the prompts that it always made, after each of its entries", (name) => {
  const hash = createHash("sha256");
  read(name).reduce<RunState | InitialState>((state, entry) => {
    const next = apply(state, entry);
    hash.update(`${JSON.stringify(modelRequest(next, agent))}\n`);
    return next;
  }, initialState);
  expect(hash.digest("hex")).toBe((prompts as Record<string, string>)[name.slice("v1/".length)]!);
});

test.each(fourth)("%s has the recorded prompt hashes: each message of the user is in the next prompt", (name) => {
  const pinned = (steeredAgents as unknown as Record<string, AgentSnapshot>)[name.slice("v3/".length)]!;
  let calls = 0;
  read(name).reduce<RunState | InitialState>((state, entry) => {
    const { event } = entry;
    if (event.type === "step.started" && event.step_type === "model_call") {
      expect(hashJson(modelRequest(requireRun(state), pinned))).toBe(event.input_hash!);
      calls++;
    }
    return apply(state, entry);
  }, initialState);
  expect(calls).toBe(name === "v3/paused" ? 3 : 2);
});

test.each(second)("%s has the recorded prompt hashes and truncations", (name) => {
  const pinned = (agents as unknown as Record<string, AgentSnapshot>)[name.slice("v2-memory/".length)]!;
  const asked: string[] = [];
  read(name).reduce<RunState | InitialState>((state, entry) => {
    const { event } = entry;
    if (event.type === "step.started" && event.step_type === "model_call") {
      expect(hashJson(modelRequest(requireRun(state), pinned))).toBe(event.input_hash!);
      asked.push("prompt");
    } else if (event.type === "step.started" && event.step_type === "compaction") {
      const cut = planContext(requireRun(state), pinned) as Exclude<ContextPlan, { do: "fail" }>;
      if (cut.do === "compact")
        expect(hashJson(summaryRequest(requireRun(state), pinned, cut))).toBe(event.input_hash!);
      expect(cut.do).toBe(event.name as typeof cut.do);
      asked.push("summary");
    } else if (event.type === "context.compacted") {
      const { left_out, tokens_before, tokens_after } = event;
      expect(planContext(requireRun(state), pinned)).toMatchObject({ left_out, tokens_before, tokens_after });
    }
    return apply(state, entry);
  }, initialState);
  expect(asked.length > 0).toBe(name !== "v2-memory/passages-blocked");
});
