import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { type PrefixEdits, prefixOf } from "../core/fork.ts";
import { modelRequest } from "../core/prompt.ts";
import { endsRun, type JournalEntry, type RunEvent } from "../core/run-event.ts";
import { fold, isResolved, type RunState } from "../core/run-state.ts";

/** The journal that a fork of this record begins with, as the service writes it. */
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

/** What of a state a fork has to have in common with its record. */
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
  /** The next model call as both ask for it, and its hash where the record has one. */
  requests: [unknown, unknown];
  input_hash: string | null;
}

/** A fork at a step and the record where the run went on after it; null where the record has calls without a result. */
export function compareFork(entries: readonly JournalEntry[], step: number, agent: AgentSnapshot): Compared | null {
  const fork = fold(forkOf(entries, step));
  const over = entries.findIndex(({ event }) => event.type === "step.completed" && event.step_index === step);
  const next = entries.findIndex(({ event }, index) => index > over && goesOn(event));
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

const goesOn = (event: RunEvent): boolean =>
  (event.type === "step.started" && event.step_type !== "tool_call" && event.step_type !== "subagent") ||
  event.type === "output.rejected" ||
  endsRun(event);

/** Steps of a record after which it could go on. */
export const stepsOf = (entries: readonly JournalEntry[]): number[] =>
  entries.flatMap(({ event }) =>
    event.type === "step.completed" && event.status !== "cancelled" ? [event.step_index] : [],
  );
