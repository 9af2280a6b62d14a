import { siblingId } from "../core/ids.ts";
import { originOf } from "../core/origin.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Trace } from "../core/trace.ts";

/** What there is to say of a trace beside its steps (contract, section 16). */
export function traceSummary({ id, project_id, environment }: Scope & { id: string }, { state, recoveries }: Trace) {
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
    recoveries,
    history_messages: state.history.length,
    documents: state.documents.map(({ text, ...facts }) => ({ ...facts, length: text?.length ?? null })),
    metadata: run.metadata,
    project_id,
    environment,
  };
}
