import { limits } from "../../../../server/domain/limits.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import { draftOf as agentDraftOf, changesOf, readDraft } from "../../entities/agent/agent-draft.ts";
import type { Draft as AgentDraft } from "../../entities/agent/agent-fields.ts";
import { rebaseDraft } from "../../hooks/use-draft.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";
import type { RunBody } from "./turn.ts";

/** An agent's form state with the settings of this page. */
export interface Draft extends AgentDraft {
  /** Cost limit of this page's runs; not saved to the agent. */
  run_cost_usd: string;
  /** User of this page's runs; not saved to the agent. */
  user: string;
  /** True if runs read the thread's earlier messages; not saved to the agent. Null: the agent's setting. */
  remembers: boolean | null;
}

/** Creates a draft of an agent. */
export const draftOf = (agent: FullAgent): Draft => ({ ...agentDraftOf(agent), ...defaultRunSettings });

const defaultRunSettings = { run_cost_usd: "", user: "", remembers: null };

/** True if the draft has settings of this page's runs. */
export const hasRunSettings = (draft: Draft): boolean =>
  draft.run_cost_usd !== "" || draft.user !== "" || draft.remembers !== null;

/** True if runs with the draft read the thread's earlier messages. */
export const readsThreadHistory = (
  { memory }: Pick<FullAgent, "memory">,
  { remembers }: Pick<Draft, "remembers">,
): boolean => remembers ?? memory?.history.mode === "thread";

/** True if the draft has changes that saving would store. */
export const hasChanges = (draft: Draft, base: FullAgent): boolean => agentChanges(base, draft) !== null;

/** Rebases a draft onto a newer version: changes since `begun` stay, all other fields are that version's. */
export function rebaseDraftOn(newer: FullAgent, draft: Draft, begun: Draft): Draft {
  const { run_cost_usd, user, remembers } = draft;
  return { ...rebaseDraft(draft, begun, draftOf(newer)), run_cost_usd, user, remembers };
}

/** Fields that a run can override. */
const overridableFields = { instructions: "instructions", model: "model", tools: "tools", max_turns: "model calls" };

/** Model settings that a run can override, but not remove. */
const overridableModelSettings = {
  temperature: "temperature",
  max_output_tokens: "output limit",
  reasoning_effort: "reasoning effort",
  parallel_tool_calls: "parallel tool calls",
};

/** Model settings that a run cannot override. */
const agentOnlySettings = { script: "script" };

/** Labels of the fields in which two drafts differ, among those that this page shows and an agent stores. */
export function changedWords(
  one: Draft,
  other: Draft,
  words: Partial<Record<keyof Draft, string>> = {
    ...overridableFields,
    ...overridableModelSettings,
    ...agentOnlySettings,
  },
): string[] {
  return Object.entries(words)
    .filter(([field]) => JSON.stringify(one[field as keyof Draft]) !== JSON.stringify(other[field as keyof Draft]))
    .map(([, word]) => word);
}

/** Labels of changes that runs ignore until the agent is saved. */
export function unsavedChangeLabels(agent: FullAgent, draft: Draft): string[] {
  const modelFields = modelSettings(agent, draft);
  const words = Object.entries({ ...overridableModelSettings, ...agentOnlySettings }).filter(
    ([field]) => !(field in modelFields),
  );
  return changedWords(draftOf(agent), draft, Object.fromEntries(words));
}

/** Model settings that a run overrides. The output limit cannot exceed the agent's. */
function modelSettings(agent: FullAgent, draft: Draft): Partial<FullAgent["model_settings"]> {
  const before = agent.model_settings;
  const { model_settings: after = before } = changesOf(draft, agent) as Partial<Pick<FullAgent, "model_settings">>;
  const isGiven = ([name, value]: [string, unknown]) =>
    name in overridableModelSettings &&
    JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]) &&
    !(name === "max_output_tokens" && Number(value) > (before.max_output_tokens ?? Number.POSITIVE_INFINITY));
  return Object.fromEntries(Object.entries(after).filter(isGiven));
}

/** Validation errors by field. Instructions may be empty here; a script matters only to the scripted model. */
export function faultsOf(draft: Draft): FieldErrors<Draft> {
  const { instructions: _, script, ...faults } = readDraft(draft).faults;
  const cost = Number(draft.run_cost_usd);
  return {
    ...faults,
    ...(!(cost >= 0 && cost <= limits.budget_usd) && { run_cost_usd: "An amount in USD." }),
    ...(script && draft.model === "test/script" && { script }),
  };
}

/**
 * Overrides that turn the agent into the draft. A chosen model is asked alone, without the agent's fallback models;
 * `compared` is the model of one side of a comparison.
 */
export function runParts(
  agent: FullAgent,
  draft: Draft,
  compared?: string,
): Pick<RunBody, "overrides" | "budget" | "user_id"> {
  const model = compared ?? draft.model;
  const isChosen = model !== agent.model || (compared !== undefined && agent.models !== undefined);
  const changes = Object.entries(changesOf(draft, agent)).filter(
    ([field]) => field in overridableFields && field !== "model",
  );
  const settings = modelSettings(agent, draft);
  const mode = readsThreadHistory(agent, draft) ? ("thread" as const) : ("none" as const);
  const overrides = {
    ...Object.fromEntries(changes),
    ...(isChosen && { model }),
    ...(Object.keys(settings).length > 0 && { model_settings: settings }),
    ...(mode !== (agent.memory?.history.mode ?? "none") && { history: { mode } }),
  };
  return {
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(draft.user.trim() !== "" && { user_id: draft.user.trim() }),
    ...(draft.run_cost_usd !== "" && { budget: { max_cost_usd: Number(draft.run_cost_usd) } }),
  };
}

/** Says which models the runs of this page ask; undefined if the agent has only one. */
export function modelHint({ model, models = [] }: Pick<FullAgent, "model" | "models">, draft: Draft) {
  if (models.length < 2) return undefined;
  return draft.model === model
    ? `If it cannot answer, the next one is asked: ${models.slice(1).join(", ")}.`
    : "Runs here ask this model alone.";
}

/** Body of the PATCH that saves the draft; null without changes. */
export function agentChanges(agent: FullAgent, draft: Draft): Record<string, unknown> | null {
  const changes = changesOf(draft, agent);
  return Object.keys(changes).length > 0 ? changes : null;
}

/** Changes a draft to parallel or sequential tool calls. */
export function withParallel(agent: FullAgent, isParallel: boolean): Pick<Draft, "parallel_tool_calls"> {
  const saved = draftOf(agent).parallel_tool_calls;
  return { parallel_tool_calls: isParallel === (saved !== "false") ? saved : `${isParallel}` };
}
