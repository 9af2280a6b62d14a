import { limits } from "../../../../server/core/limits.ts";
import type { Agent as FullAgent } from "../../../../server/wire/agent.ts";
import { draftOf as agentDraftOf, changesOf, readDraft } from "../../entities/agent/agent-draft.ts";
import type { Draft as AgentDraft } from "../../entities/agent/agent-fields.ts";
import { readPolicy } from "../../entities/agent/policy.ts";
import type { Faults } from "../../lib/fault-of.ts";
import { jsonText } from "../../lib/json-text.ts";
import { rebased } from "../../lib/use-edited.ts";
import type { RunBody } from "./turn.ts";

/** An agent with what was changed here. */
export interface Draft extends AgentDraft {
  /** Of the runs alone: no agent keeps it. */
  run_cost_usd: string;
}

/** An agent, ready to be changed. */
export const draftOf = (agent: FullAgent): Draft => ({ ...agentDraftOf(agent), run_cost_usd: "" });

/** Whether anything was changed that an agent keeps. */
export const isWritten = (draft: Draft, base: FullAgent): boolean => agentChanges(base, draft) !== null;

/** A draft that began as `begun`, on another version: what was written in it stands, the rest is that version's. */
export function draftOn(newer: FullAgent, draft: Draft, begun: Draft): Draft {
  return { ...rebased(draft, begun, draftOf(newer)), run_cost_usd: draft.run_cost_usd };
}

/** What runs can have before it is saved. */
const ofRuns = { instructions: "instructions", model: "model", tools: "tools", max_turns: "model calls" };

/** What they cannot: settings of the model, and whether it reads its thread. */
const ofAgent = {
  temperature: "temperature",
  max_output_tokens: "output limit",
  reasoning_effort: "reasoning effort",
  parallel_tool_calls: "calls in parallel",
  script: "script",
  memory: "reading the conversation",
};

/** The words for the fields in which two drafts differ, of those that an agent keeps and that are shown here. */
export function changedWords(
  one: Draft,
  other: Draft,
  words: Partial<Record<keyof Draft, string>> = { ...ofRuns, ...ofAgent },
): string[] {
  return Object.entries(words)
    .filter(([field]) => JSON.stringify(one[field as keyof Draft]) !== JSON.stringify(other[field as keyof Draft]))
    .map(([, word]) => word);
}

/** The words for what runs cannot have before it is saved. */
export const unsavedOnly = (agent: FullAgent, draft: Draft): string[] => changedWords(draftOf(agent), draft, ofAgent);

/** What is wrong with what was typed, by field. Here instructions may be empty, and a script is read by its model alone. */
export function faultsOf(draft: Draft): Faults<Draft> {
  const { instructions: _, script, ...faults } = readDraft(draft).faults;
  const cost = Number(draft.run_cost_usd);
  return {
    ...faults,
    ...(!(cost >= 0 && cost <= limits.budget_usd) && { run_cost_usd: "An amount in USD." }),
    ...(script && draft.model === "test/script" && { script }),
  };
}

/** What a run with the draft has different from the agent. `model`: another one, when two are compared. */
export function runParts(agent: FullAgent, draft: Draft, model = draft.model): Pick<RunBody, "overrides" | "budget"> {
  const changes = Object.entries(changesOf(draft, agent)).filter(([field]) => field in ofRuns && field !== "model");
  const overrides = { ...Object.fromEntries(changes), ...(model !== agent.model && { model }) };
  return {
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(draft.run_cost_usd !== "" && { budget: { max_cost_usd: Number(draft.run_cost_usd) } }),
  };
}

/** Body of the PATCH that keeps the draft; null while it is what the agent is. */
export function agentChanges(agent: FullAgent, draft: Draft): Record<string, unknown> | null {
  const changes = changesOf(draft, agent);
  return Object.keys(changes).length > 0 ? changes : null;
}

export const readsThread = ({ memory }: Draft): boolean => readPolicy(memory)?.history?.mode === "thread";

/** The draft with its thread read, or not. */
export function withThread(agent: FullAgent, draft: Draft, reads: boolean): Pick<Draft, "memory"> {
  const begun = draftOf(agent);
  if (reads === readsThread(begun)) return { memory: begun.memory };
  const policy = readPolicy(draft.memory) ?? {};
  return { memory: jsonText({ ...policy, history: { ...policy.history, mode: reads ? "thread" : "none" } }) };
}

/** The draft with calls in parallel, or one after the other. */
export function withParallel(agent: FullAgent, isParallel: boolean): Pick<Draft, "parallel_tool_calls"> {
  const saved = draftOf(agent).parallel_tool_calls;
  return { parallel_tool_calls: isParallel === (saved !== "false") ? saved : `${isParallel}` };
}
