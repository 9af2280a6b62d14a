import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { noUsage } from "../../../../server/domain/usage.ts";
import type { Trace } from "../../entities/run/trace-api.ts";

const begun = Date.parse("2026-11-21T02:00:00.000Z");

/** Timestamp this many milliseconds after the run's start. */
export const time = (ms: number): string => new Date(begun + ms).toISOString();

/** The same in milliseconds since the epoch. */
export const ms = (after: number): number => begun + after;

/** Creates a trace for tests. */
export function traceOf(more: Partial<Trace> = {}): Trace {
  return {
    id: "trc_1",
    run_id: "run_1",
    agent_id: "agt_1",
    agent_version: 1,
    status: "completed",
    started_at: time(0),
    completed_at: time(10_000),
    duration_ms: 10_000,
    usage: noUsage,
    created_at: time(0),
    origin: "run",
    forked_from: null,
    replay_of: null,
    recoveries: [],
    pauses: [],
    history_messages: 0,
    object: "trace",
    imported: false,
    documents: [],
    metadata: {},
    project_id: "proj_1",
    environment: "test",
    ...more,
  };
}

/** Creates a step for tests: a tool call of one second; steps follow one another. */
export function stepOf(step_index: number, more: Partial<TraceStep> = {}): TraceStep {
  return {
    id: `stp_${step_index}`,
    object: "trace_step",
    parent_id: null,
    step_index,
    turn_index: 0,
    type: "tool_call",
    name: "look",
    status: "completed",
    attempt: 1,
    started_at: time(step_index * 1000),
    completed_at: time(step_index * 1000 + 1000),
    latency_ms: 1000,
    time_to_first_token_ms: null,
    input: {},
    output: { ok: true },
    reasoning: null,
    error: null,
    usage: null,
    finish_reason: null,
    model: null,
    tool_call_id: `call_${step_index}`,
    tool_type: "http",
    input_hash: null,
    replayed: false,
    subagent: null,
    approval: null,
    retries: [],
    ...more,
  };
}
