import type { Agent as FullAgent } from "../../../../server/agents/schema.ts";
import { limits } from "../../../../server/core/limits.ts";
import { draftOf as agentDraftOf, changesOf, readDraft } from "../../entities/agent/agent-draft.ts";
import type { Draft as AgentDraft } from "../../entities/agent/agent-fields.ts";
import type { Faults } from "../../lib/fault-of.ts";
import { rebased } from "../../lib/use-edited.ts";
import type { RunBody } from "./turn.ts";

/** An agent with what was changed here. */
export interface Draft extends AgentDraft {
  /** Of the runs alone: no agent keeps it. */
  run_cost_usd: string;
  /** Whether they read what was said before; of the runs alone, too. Null: as the agent's runs do. */
  remembers: boolean | null;
}

/** An agent, ready to be changed. */
export const draftOf = (agent: FullAgent): Draft => ({ ...agentDraftOf(agent), ...firstOfRuns });

const firstOfRuns = { run_cost_usd: "", remembers: null };

/** Whether runs with the draft read what was said before. */
export const remembersIn = ({ memory }: Pick<FullAgent, "memory">, { remembers }: Pick<Draft, "remembers">): boolean =>
  remembers ?? memory?.history.mode === "thread";

/** Whether anything was changed that an agent keeps. */
export const isWritten = (draft: Draft, base: FullAgent): boolean => agentChanges(base, draft) !== null;

/** A draft that began as `begun`, on another version: what was written in it stands, the rest is that version's. */
export function draftOn(newer: FullAgent, draft: Draft, begun: Draft): Draft {
  const { run_cost_usd, remembers } = draft;
  return { ...rebased(draft, begun, draftOf(newer)), run_cost_usd, remembers };
}

/** What runs can have before it is saved. */
const ofRuns = { instructions: "instructions", model: "model", tools: "tools", max_turns: "model calls" };

/** What they can have in part: a setting of the agent may be another one for a run, and none only once it is saved. */
const ofModel = {
  temperature: "temperature",
  max_output_tokens: "output limit",
  reasoning_effort: "reasoning effort",
  parallel_tool_calls: "parallel tool calls",
};

/** What they cannot. */
const ofAgent = { script: "script" };

/** The words for the fields in which two drafts differ, of those that an agent keeps and that are shown here. */
export function changedWords(
  one: Draft,
  other: Draft,
  words: Partial<Record<keyof Draft, string>> = { ...ofRuns, ...ofModel, ...ofAgent },
): string[] {
  return Object.entries(words)
    .filter(([field]) => JSON.stringify(one[field as keyof Draft]) !== JSON.stringify(other[field as keyof Draft]))
    .map(([, word]) => word);
}

/** The words for what runs cannot have before it is saved. */
export function unsavedOnly(agent: FullAgent, draft: Draft): string[] {
  const given = modelSettings(agent, draft);
  const words = Object.entries({ ...ofModel, ...ofAgent }).filter(([field]) => !(field in given));
  return changedWords(draftOf(agent), draft, Object.fromEntries(words));
}

/** What a run with the draft is asked of the model differently. The server does not raise the agent's output limit. */
function modelSettings(agent: FullAgent, draft: Draft): Partial<FullAgent["model_settings"]> {
  const before = agent.model_settings;
  const { model_settings: after = before } = changesOf(draft, agent) as Partial<Pick<FullAgent, "model_settings">>;
  const isGiven = ([name, value]: [string, unknown]) =>
    name in ofModel &&
    JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]) &&
    !(name === "max_output_tokens" && Number(value) > (before.max_output_tokens ?? Number.POSITIVE_INFINITY));
  return Object.fromEntries(Object.entries(after).filter(isGiven));
}

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
  const settings = modelSettings(agent, draft);
  const mode = remembersIn(agent, draft) ? ("thread" as const) : ("none" as const);
  const overrides = {
    ...Object.fromEntries(changes),
    ...(model !== agent.model && { model }),
    ...(Object.keys(settings).length > 0 && { model_settings: settings }),
    ...(mode !== (agent.memory?.history.mode ?? "none") && { history: { mode } }),
  };
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

/** The draft with calls in parallel, or one after the other. */
export function withParallel(agent: FullAgent, isParallel: boolean): Pick<Draft, "parallel_tool_calls"> {
  const saved = draftOf(agent).parallel_tool_calls;
  return { parallel_tool_calls: isParallel === (saved !== "false") ? saved : `${isParallel}` };
}
