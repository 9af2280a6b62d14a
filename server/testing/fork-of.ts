import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import { type PrefixEdits, prefixOf } from "../domain/fork.ts";
import { modelRequest } from "../domain/prompt.ts";
import { endsRun, type JournalEntry, type RunEvent } from "../domain/run-event.ts";
import { fold, isResolved, type RunState } from "../domain/run-state.ts";

/** Returns the journal that a fork of this record begins with, as the service writes it. */
export function forkOf(entries: readonly JournalEntry[], step: number, edits: PrefixEdits = {}): JournalEntry[] {
  const [{ event: run, at }] = entries as [JournalEntry];
  const { entries: kept } = prefixOf(entries, step, edits);
  const created = {
    ...run,
    forked_from: { run_id: "run_1", step_index: step },
    recorded_to: kept.length + 1,
  } as RunEvent;
  return [{ at, event: created }, ...kept].map((entry, index) => ({ seq: index + 1, ...entry }));
}

/** Returns the part of a state that a fork must share with its record. */
const common = ({
  messages,
  calls,
  steps,
  turns,
  history,
  documents,
  retrieved,
  compacted,
  decisions,
  model_error,
  blocked,
}: RunState) => ({
  calls: calls.map(({ recorded: _, ...call }) => call),
  messages,
  steps,
  turns,
  history,
  documents,
  retrieved,
  compacted,
  decisions,
  model_error,
  blocked,
});

export interface Compared {
  fork: ReturnType<typeof common>;
  record: ReturnType<typeof common>;
  /** The next model call of both, and its hash where the record has one. */
  requests: [unknown, unknown];
  input_hash: string | null;
}

/**
 * Compares a fork at a step with the record where its run continued after that step. Returns null if the record has
 * calls without a result.
 */
export function compareFork(entries: readonly JournalEntry[], step: number, agent: AgentSnapshot): Compared | null {
  const fork = fold(forkOf(entries, step));
  const over = entries.findIndex(({ event }) => event.type === "step.completed" && event.step_index === step);
  const next = entries.findIndex(({ event }, index) => index > over && canContinue(event));
  // A message that came after the step need not be in its fork.
  const between = entries.slice(over + 1, next === -1 ? entries.length : next);
  if (between.some(({ event }) => event.type === "run.steered")) return null;
  const record = fold(entries.slice(0, next === -1 ? entries.length : next));
  if (record.calls.some((call) => !isResolved(call) || call.status === "cancelled")) return null;
  const event = entries[next]?.event;
  return {
    fork: common(fork),
    record: common(record),
    requests: [modelRequest(fork, agent), modelRequest(record, agent)],
    input_hash: event?.type === "step.started" && event.step_type === "model_call" ? event.input_hash : null,
  };
}

const canContinue = (event: RunEvent): boolean =>
  (event.type === "step.started" && event.step_type !== "tool_call" && event.step_type !== "subagent") ||
  event.type === "output.rejected" ||
  endsRun(event);

/** Returns the steps of a record after which it can continue. */
export const stepsOf = (entries: readonly JournalEntry[]): number[] =>
  entries.flatMap(({ event }) =>
    event.type === "step.completed" && event.status !== "cancelled" ? [event.step_index] : [],
  );
