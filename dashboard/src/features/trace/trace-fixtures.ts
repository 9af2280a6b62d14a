import { noUsage } from "../../../../server/core/usage.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { Trace } from "../../entities/run/trace-api.ts";

const begun = Date.parse("2026-11-21T02:00:00.000Z");

/** A time so many milliseconds after the run began. */
export const time = (ms: number): string => new Date(begun + ms).toISOString();

/** The same in milliseconds since the epoch. */
export const ms = (after: number): number => begun + after;

/** A trace for tests. */
export function traceOf(more: Partial<Trace> = {}): Trace {
  return {
    id: "trc_1",
    run_id: "run_1",
    agent_id: "agt_1",
    agent_version: 1,
    status: "completed",
    started_at: time(0),
    ended_at: time(10_000),
    duration_ms: 10_000,
    usage: noUsage,
    created_at: time(0),
    origin: "run",
    forked_from: null,
    replay_of: null,
    recoveries: [],
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

/** A step for tests: a tool call of a second, one after the other. */
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
    ended_at: time(step_index * 1000 + 1000),
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
