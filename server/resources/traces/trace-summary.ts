import { siblingId } from "../../domain/ids.ts";
import type { RunState } from "../../domain/run-state.ts";
import { triggerOf } from "../../domain/run-trigger.ts";
import type { Scope } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { Trace } from "../../domain/trace.ts";

type Owner = Scope & { id: string };

/** Fields of a trace beside its steps (contract, section 16). */
export const traceSummary = (row: Owner, { state, recoveries, pauses }: Trace) => ({
  ...traceHead(row, state),
  recoveries,
  pauses,
  history_messages: state.history.length,
  documents: state.documents.map(({ text, ...facts }) => ({ ...facts, length: text?.length ?? null })),
});

/** Fields of a trace in lists. */
export function traceHead({ id, project_id, environment }: Owner, state: RunState) {
  const run = state.run;
  const startTime = state.started_at ?? state.created_at;
  return {
    id: siblingId(id, "trace"),
    object: "trace" as const,
    run_id: id,
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    status: state.status,
    started_at: timestamp(startTime),
    completed_at: timestampOrNull(state.ended_at),
    duration_ms: (state.ended_at ?? state.updated_at) - startTime,
    usage: state.usage,
    created_at: timestamp(state.created_at),
    origin: triggerOf(run),
    forked_from: run.forked_from ?? null,
    replay_of: run.replay_of ?? null,
    imported: run.imported ?? false,
    metadata: run.metadata,
    project_id,
    environment,
  };
}
