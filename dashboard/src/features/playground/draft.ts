import type { ModelSettings, ScriptEntry } from "../../../../server/core/model-call.ts";
import type { Agent as FullAgent, ToolReference } from "../../../../server/wire/agent.ts";
import { rebased } from "../../lib/use-edited.ts";
import type { RunBody } from "./turn.ts";

/** An agent with what was changed here. Numbers are as they were typed. */
export interface Draft {
  instructions: string;
  model: string;
  tools: ToolReference[];
  maxTurns: string;
  temperature: string;
  maxOutputTokens: string;
  reasoningEffort: NonNullable<ModelSettings["reasoning_effort"]> | "";
  parallelCalls: boolean;
  script: string;
  readsThread: boolean;
  /** Of the runs alone: no agent keeps it. */
  maxCost: string;
}

/** An agent, ready to be changed. */
export function draftOf(agent: FullAgent): Draft {
  const { temperature, max_output_tokens, reasoning_effort, parallel_tool_calls, script } = agent.model_settings;
  return {
    instructions: agent.instructions,
    model: agent.model,
    tools: agent.tools,
    maxTurns: String(agent.max_turns),
    temperature: text(temperature),
    maxOutputTokens: text(max_output_tokens),
    reasoningEffort: reasoning_effort ?? "",
    parallelCalls: parallel_tool_calls ?? true,
    script: script ? JSON.stringify(script, null, 2) : "",
    readsThread: agent.memory?.history?.mode === "thread",
    maxCost: "",
  };
}

/** Whether anything was changed that an agent keeps. */
export function isWritten(draft: Draft, base: FullAgent): boolean {
  return changedWords(draftOf(base), draft).length > 0;
}

/** A draft that began as `begun`, on another version: what was written in it stands, the rest is that version's. */
export function draftOn(newer: FullAgent, draft: Draft, begun: Draft): Draft {
  return { ...rebased(draft, begun, draftOf(newer)), maxCost: draft.maxCost };
}

const fieldWords: Record<Exclude<keyof Draft, "maxCost">, string> = {
  instructions: "instructions",
  model: "model",
  tools: "tools",
  maxTurns: "model calls",
  temperature: "temperature",
  maxOutputTokens: "output limit",
  reasoningEffort: "reasoning effort",
  parallelCalls: "calls in parallel",
  script: "script",
  readsThread: "reading the conversation",
};

/** The words for the fields in which two drafts differ, of those that an agent keeps. */
export function changedWords(one: Draft, other: Draft): string[] {
  return (Object.keys(fieldWords) as (keyof typeof fieldWords)[])
    .filter((field) => JSON.stringify(one[field]) !== JSON.stringify(other[field]))
    .map((field) => fieldWords[field]);
}

/** What is wrong with what was typed, by field. */
export function faultsOf(draft: Draft): Partial<Record<keyof Draft, string>> {
  return {
    ...(draft.model.trim() === "" && { model: "An agent needs a model." }),
    ...(!isNumber(draft.maxTurns, 1, 200, true) && { maxTurns: "A whole number from 1 to 200." }),
    ...(draft.temperature !== "" && !isNumber(draft.temperature, 0, 2) && { temperature: "A number from 0 to 2." }),
    ...(draft.maxOutputTokens !== "" &&
      !isNumber(draft.maxOutputTokens, 1, 10_000_000, true) && { maxOutputTokens: "A whole number of tokens." }),
    ...(draft.maxCost !== "" && !isNumber(draft.maxCost, 0, 1_000_000) && { maxCost: "An amount in USD." }),
    ...(draft.model === "test/script" && scriptOf(draft.script) === null && { script: "A JSON list of entries." }),
  };
}

/** What a run with the draft has different from the agent. `model`: another one, when two are compared. */
export function runParts(agent: FullAgent, draft: Draft, model = draft.model): Pick<RunBody, "overrides" | "budget"> {
  const tools = draft.tools.map(({ id }) => id);
  const overrides = {
    ...(draft.instructions !== agent.instructions && { instructions: draft.instructions }),
    ...(model !== agent.model && { model }),
    ...(!isSameList(tools, agent.tools) && { tools }),
    ...(Number(draft.maxTurns) !== agent.max_turns && { max_turns: Number(draft.maxTurns) }),
  };
  return {
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(draft.maxCost !== "" && { budget: { max_cost_usd: Number(draft.maxCost) } }),
  };
}

/** The words for what runs cannot have before it is saved: settings of the model, and whether it reads its thread. */
export function unsavedOnly(agent: FullAgent, draft: Draft): string[] {
  const settings = settingsOf(agent, draft);
  const saved = agent.model_settings;
  const words: [string, boolean][] = [
    [fieldWords.temperature, settings.temperature !== saved.temperature],
    [fieldWords.maxOutputTokens, settings.max_output_tokens !== saved.max_output_tokens],
    [fieldWords.reasoningEffort, settings.reasoning_effort !== saved.reasoning_effort],
    [fieldWords.parallelCalls, (settings.parallel_tool_calls ?? true) !== (saved.parallel_tool_calls ?? true)],
    [fieldWords.script, JSON.stringify(settings.script) !== JSON.stringify(saved.script)],
    [fieldWords.readsThread, draft.readsThread !== draftOf(agent).readsThread],
  ];
  return words.filter(([, differs]) => differs).map(([word]) => word);
}

/** Body of the PATCH that keeps the draft; null while it is what the agent is. */
export function agentChanges(agent: FullAgent, draft: Draft): Record<string, unknown> | null {
  const { overrides } = runParts(agent, draft);
  const model_settings = settingsOf(agent, draft);
  const isHistoryOther = draft.readsThread !== draftOf(agent).readsThread;
  const changes = {
    ...overrides,
    ...(stable(model_settings) !== stable(agent.model_settings) && { model_settings }),
    ...(isHistoryOther && { memory: memoryOf(agent, draft.readsThread) }),
  };
  return Object.keys(changes).length > 0 ? changes : null;
}

function settingsOf(agent: FullAgent, draft: Draft): ModelSettings {
  const { temperature: _, max_output_tokens: __, reasoning_effort: ___, script: ____, ...rest } = agent.model_settings;
  const script = scriptOf(draft.script);
  const isParallelSaid = draft.parallelCalls !== (agent.model_settings.parallel_tool_calls ?? true);
  return {
    ...rest,
    ...(isParallelSaid && { parallel_tool_calls: draft.parallelCalls }),
    ...(draft.temperature !== "" && { temperature: Number(draft.temperature) }),
    ...(draft.maxOutputTokens !== "" && { max_output_tokens: Number(draft.maxOutputTokens) }),
    ...(draft.reasoningEffort && { reasoning_effort: draft.reasoningEffort }),
    ...(script && script.length > 0 && { script: script as object[] }),
  };
}

function memoryOf({ memory }: FullAgent, readsThread: boolean): Record<string, unknown> {
  return { ...memory, history: { ...memory?.history, mode: readsThread ? "thread" : "none" } };
}

/** The entries of a script; none for nothing, null for what is no list. */
function scriptOf(written: string): ScriptEntry[] | null {
  if (written.trim() === "") return [];
  try {
    const value: unknown = JSON.parse(written);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const text = (value: number | undefined): string => (value === undefined ? "" : String(value));

const stable = (value: object): string => JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

const isSameList = (ids: readonly string[], tools: readonly ToolReference[]): boolean =>
  ids.length === tools.length && tools.every(({ id }) => ids.includes(id));

function isNumber(written: string, least: number, most: number, whole = false): boolean {
  const value = Number(written);
  return written.trim() !== "" && value >= least && value <= most && (!whole || Number.isInteger(value));
}
