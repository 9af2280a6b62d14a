import { siblingId } from "../core/ids.ts";
import { originOf } from "../core/origin.ts";
import type { RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Trace } from "../core/trace.ts";

type Owner = Scope & { id: string };

/** What there is to say of a trace beside its steps (contract, section 16). */
export const traceSummary = (row: Owner, { state, recoveries }: Trace) => ({
  ...traceHead(row, state),
  recoveries,
  history_messages: state.history.length,
  documents: state.documents.map(({ text, ...facts }) => ({ ...facts, length: text?.length ?? null })),
});

/** What a list says of it. */
export function traceHead({ id, project_id, environment }: Owner, state: RunState) {
  const run = state.run!;
  const begun = state.started_at ?? state.created_at;
  return {
    id: siblingId(id, "trace"),
    object: "trace" as const,
    run_id: id,
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    status: state.status,
    started_at: timestamp(begun),
    ended_at: timestampOrNull(state.ended_at),
    duration_ms: (state.ended_at ?? state.updated_at) - begun,
    usage: state.usage,
    created_at: timestamp(state.created_at),
    origin: originOf(run),
    forked_from: run.forked_from ?? null,
    replay_of: run.replay_of ?? null,
    imported: run.imported ?? false,
    metadata: run.metadata,
    project_id,
    environment,
  };
}
