import { expect, test } from "bun:test";
import {
  answer,
  attached,
  begin,
  compacted,
  completed,
  created,
  guardrailDecided,
  passage,
  requested,
  restarted,
  retrieved,
  started,
  stateOf,
  text,
  toolCompleted,
  turnWithCalls,
  usage,
} from "../__fixtures__/events.ts";
import { requiredAction } from "../required-action.ts";
import type { RunEvent, RunEventType } from "../run-event.ts";
import { noUsage } from "../usage.ts";
import type { FrameName } from "./enums.ts";
import { frameOf, isLastFrame } from "./frames.ts";

const id = "run_0000000000000000000000000a";
const error = {
  type: "run_error" as const,
  code: "model_error" as const,
  message: "No.",
  step_index: 0,
  retryable: true,
};
const action = requiredAction(stateOf(...turnWithCalls(["a", "output"])).calls, begin);

/** The journal keeps a call as `id` and `tool`; clients get the names of the wire. */
const shownCalls = [
  {
    tool_call_id: "a",
    tool_id: "tool_a",
    name: "tool_of_a",
    arguments: { city: "a" },
    needs: "output",
    expires_at: "2026-01-01T00:00:00.000Z",
  },
];

const { text: _, ...about } = attached();

// One line per event type, so that a new one has to define its frame.
const table: Record<RunEventType, [RunEvent, name: FrameName, data: object]> = {
  "run.created": [created(), "run.created", { id, status: "in_progress", agent_id: "agt_1", request_id: "req_1" }],
  "run.queued": [{ type: "run.queued", queue_position: 3 }, "run.queued", { id, status: "queued", queue_position: 3 }],
  "run.started": [{ type: "run.started" }, "run.started", { id, status: "in_progress" }],
  "run.completed": [
    { type: "run.completed", output: "Hi", output_json: { a: 1 }, usage: noUsage },
    "run.completed",
    { id, status: "completed", output: "Hi", output_json: { a: 1 }, usage: noUsage },
  ],
  "run.failed": [
    { type: "run.failed", error, output: "H", usage: noUsage },
    "run.failed",
    { id, status: "failed", error, usage: noUsage, output: "H" },
  ],
  "run.cancelled": [
    { type: "run.cancelled", reason: "enough", output: "H", usage: noUsage },
    "run.failed",
    {
      id,
      status: "cancelled",
      error: {
        type: "run_error",
        code: "run_cancelled",
        message: "The run was cancelled: enough",
        step_index: null,
        retryable: false,
      },
      usage: noUsage,
      output: "H",
    },
  ],
  "run.steered": [
    { type: "run.steered", message_id: "msg_1", content: "Wait.", interrupt: true },
    "run.steered",
    { message_id: "msg_1", content: "Wait.", interrupt: true },
  ],
  "run.requires_action": [
    { type: "run.requires_action", required_action: action },
    "run.requires_action",
    { required_action: { type: action.type, submit_tool_outputs: { tool_calls: shownCalls } } },
  ],
  "run.resumed": [{ type: "run.resumed" }, "run.resumed", {}],
  "run.pause_requested": [{ type: "run.pause_requested", reason: "Wait." }, "run.pause_requested", { reason: "Wait." }],
  "run.paused": [{ type: "run.paused" }, "run.paused", { id, status: "paused" }],
  "run.pause_cancelled": [{ type: "run.pause_cancelled" }, "run.pause_cancelled", {}],
  "run.recovered": [
    { type: "run.recovered", attempt: 2, step_index: 4 },
    "run.recovered",
    { attempt: 2, step_index: 4 },
  ],
  "step.started": [started(2), "step.started", { step_index: 2, type: "model_call", attempt: 1, name: "test/script" }],
  "step.restarted": [
    restarted(2, 9, { delay_ms: 500 }),
    "step.restarted",
    {
      step_index: 2,
      attempt: 2,
      discards: 9,
      reason: { code: "process_restarted", message: "The process ended." },
      delay_ms: 500,
    },
  ],
  "step.completed": [
    completed(2, { answer: answer([text("Hi")]) }),
    "step.completed",
    { step_index: 2, type: "model_call", status: "completed", latency_ms: 7, usage, error: null },
  ],
  "tool.requested": [
    requested("a", 3, "approval"),
    "tool.requested",
    {
      tool: "tool_of_a",
      args: { city: "a" },
      tool_call_id: "a",
      tool_id: "tool_a",
      type: "http",
      needs: "approval",
      step_index: 3,
    },
  ],
  "tool.decided": [
    { type: "tool.decided", tool_call_id: "a", decision: "approve", reason: "ok", arguments: null, needs: null },
    "tool.decided",
    { tool_call_id: "a", decision: "approve", reason: "ok", needs: null },
  ],
  "tool.authorized": [{ type: "tool.authorized", tool_call_id: "a" }, "tool.authorized", { tool_call_id: "a" }],
  "tool.progress": [
    {
      type: "tool.progress",
      tool_call_id: "a",
      step_index: 3,
      progress: 3,
      total: 10,
      message: "Reading",
      level: null,
    },
    "tool.progress",
    { tool_call_id: "a", step_index: 3, progress: 3, total: 10, message: "Reading", level: null },
  ],
  "subagent.started": [
    { type: "subagent.started", tool_call_id: "a", run_id: "run_2", agent_id: "agt_2" },
    "subagent.started",
    { tool_call_id: "a", subagent_run_id: "run_2", agent_id: "agt_2" },
  ],
  "subagent.waiting": [
    { type: "subagent.waiting", tool_call_id: "a", calls: action.submit_tool_outputs.tool_calls },
    "subagent.waiting",
    { tool_call_id: "a", tool_calls: shownCalls },
  ],
  "subagent.resumed": [{ type: "subagent.resumed", tool_call_id: "a" }, "subagent.resumed", { tool_call_id: "a" }],
  "handoff.completed": [
    {
      type: "handoff.completed",
      tool_call_id: "a",
      from_agent_id: "agt_1",
      from_name: "Desk",
      agent_id: "agt_2",
      agent_name: "Refunds",
      agent_version: 3,
      filter: "all",
      reason: null,
      max_turns: 26,
    },
    "handoff.completed",
    { tool_call_id: "a", from_agent_id: "agt_1", agent_id: "agt_2", agent_name: "Refunds", reason: null },
  ],
  "guardrail.decided": [
    guardrailDecided(1, { verdict: "blocked" }),
    "guardrail.triggered",
    {
      guardrail: { index: 0, type: "regex", on: "output" },
      verdict: "blocked",
      message: "It matches.",
      matches: 1,
      tool_call_id: null,
      step_index: 1,
      latency_ms: 0,
    },
  ],
  "output.rejected": [
    { type: "output.rejected", message_id: "msg_r", content: "Again, as JSON." },
    "output.rejected",
    { message: "Again, as JSON." },
  ],
  "history.loaded": [
    { type: "history.loaded", messages: [{ role: "user", content: "Before" }] },
    "history.loaded",
    { messages: 1 },
  ],
  "documents.attached": [
    { type: "documents.attached", documents: [attached()] },
    "documents.attached",
    { documents: [{ ...about, length: 14 }] },
  ],
  "memory.retrieved": [
    retrieved(1),
    "memory.retrieved",
    { step_index: 1, query: "Hello", matches: [passage()], failures: [], latency_ms: 5 },
  ],
  "context.compacted": [
    compacted(2),
    "context.compacted",
    { step_index: 2, strategy: "compact", left_out: 2, tokens_before: 900, tokens_after: 300, latency_ms: 6 },
  ],
  "tool.completed": [
    toolCompleted("a", 3),
    "tool.completed",
    {
      tool: "tool_of_a",
      tool_call_id: "a",
      status: "completed",
      result: { ok: true },
      error: null,
      latency_ms: 9,
      step_index: 3,
    },
  ],
};

test.each(Object.entries(table))("the client event of %s matches the contract exactly", (_, [event, name, data]) => {
  const at = "2026-01-01T00:00:00.000Z";
  expect(frameOf(id, { seq: 12, at: begin, event }) as object).toEqual({
    seq: 12,
    event: name,
    at,
    data: { ...data, seq: 12, run_id: id, at },
  });
});

test("clients of the specification find an end of their two kinds on every run that is over, and on no other", () => {
  const last = Object.entries(table).filter(([, [, name]]) => isLastFrame(name));
  expect(last.map(([type]) => type).sort()).toEqual(["run.cancelled", "run.completed", "run.failed"]);
});

test("a required action names the call, its need and its expiry", () => {
  expect(action).toEqual({
    type: "submit_tool_outputs",
    submit_tool_outputs: {
      tool_calls: [
        {
          id: "a",
          tool_id: "tool_a",
          tool: "tool_of_a",
          arguments: { city: "a" },
          needs: "output",
          expires_at: "2026-01-01T00:00:00.000Z",
        },
      ],
    },
  });
});
