import { afterFailure, outcomeUnknown } from "../core/after-failure.ts";
import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { decidedEvents } from "../core/guardrail-event.ts";
import { recordedResult } from "../core/recorded.ts";
import { processRestarted, restartStep } from "../core/restart.ts";
import { isOver, type OpenStep, type ToolCall } from "../core/run-state.ts";
import { type Result, settleCall, stepTypeOf } from "../core/settle.ts";
import { failpoint } from "../lib/failpoint.ts";
import { standingOf } from "../models/payer.ts";
import { bounded } from "./bound.ts";
import { judgesOn } from "./judge.ts";
import { screenResult } from "./screen-result.ts";
import { type Done, failed, type ToolOutcome } from "./tools/outcome.ts";
import { Superseded, type Turn } from "./turn.ts";

/** Runs calls side by side. Their intent is in the journal already; each result is recorded as it comes. */
export async function runTools(calls: readonly ToolCall[], turn: Turn): Promise<void> {
  const isJudged = judgesOn(turn, "tool_output").length > 0;
  const inLine: InLine = isJudged ? createLine() : (work) => work();
  const ended = await Promise.allSettled(calls.map((call) => runCall(call, turn, inLine)));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

type InLine = (work: () => Promise<void>) => Promise<void>;

/** One at a time: what a judge takes of the budget is on record before the next one is asked. */
function createLine(): InLine {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

async function runCall({ id }: ToolCall, turn: Turn, inLine: InLine): Promise<void> {
  const call = () => turn.state().calls.find((each) => each.id === id)!;
  const step = openStep(turn, id);
  if (recordedResult(turn.state(), call())) return takeRecorded(call(), turn, inLine);
  const tool = turn.start.agent.tools.find(({ name }) => name === call().tool)!;
  if (step.run_attempt < turn.state().attempt) {
    if (afterFailure("sent", tool) !== "repeat") {
      const latency_ms = Math.max(0, turn.ports.now() - step.started_at);
      return inLine(() => record(call(), tool, cutShort, latency_ms, turn));
    }
    await turn.record(restartStep(step, processRestarted("the tool was running")));
  }
  const begun = performance.now();
  failpoint?.(`before_effect.${stepTypeOf(tool.type)}`);
  const recorded = Promise.withResolvers<void>();
  try {
    const outcome = await outcomeOf(call, tool, turn, recorded.promise);
    failpoint?.(`after_effect.${stepTypeOf(tool.type)}`);
    const latency_ms = Math.round(performance.now() - begun);
    await inLine(async () => {
      requireCurrent(turn);
      await record(call(), tool, outcome, latency_ms, turn);
    });
  } finally {
    recorded.resolve();
  }
}

/** A result on record stands for running the call, once guardrails have looked at it; nobody is asked anything. */
async function takeRecorded(call: ToolCall, turn: Turn, inLine: InLine): Promise<void> {
  const { status, output, error } = recordedResult(turn.state(), call)!;
  await inLine(async () => {
    requireCurrent(turn);
    const done: Done = error ? failed(error.code, error.message, 0) : { output, error: null, attempts: 0 };
    await settle(call, done, turn, (left) => ({
      output: left.output,
      error: left.error,
      attempts: 0,
      latency_ms: 0,
      submitted: false,
      recorded: true,
      status: left.error && !error ? "failed" : status,
    }));
  });
}

/** A guardrail may have ended the run over the result of another call. */
function requireCurrent({ signal, state }: Turn): void {
  if (signal.aborted || isOver(state().status)) throw new Superseded();
}

const openStep = (turn: Turn, callId: string): OpenStep =>
  turn.state().open.find(({ tool_call_id }) => tool_call_id === callId)!;

async function outcomeOf(
  call: () => ToolCall,
  tool: ToolSnapshot,
  turn: Turn,
  recorded: Promise<void>,
): Promise<ToolOutcome> {
  try {
    return (
      (await startChild(call(), tool, turn)) ??
      (await turn.ports.runTool(call(), tool, turn.signal, recorded, () => standingOf(turn.state())))
    );
  } catch (error) {
    // A tool that was stopped says so by throwing: no bug, and nothing that the journal has to hold.
    throw turn.signal.aborted ? new Superseded() : error;
  }
}

/** The run that an agent tool starts: noted before anybody waits for it. Null when there is one to wait for. */
async function startChild(call: ToolCall, { agent }: ToolSnapshot, turn: Turn): Promise<ToolOutcome | null> {
  if (!agent || call.child) return null;
  const { id: tool_call_id } = call;
  const { agent_id } = agent;
  const started = await turn.ports.startChild({ tool_call_id, agent_id, input: String(call.arguments.input) });
  if ("refused" in started) return failed(started.refused.code, started.refused.message, 0);
  await turn.record({ type: "subagent.started", tool_call_id, run_id: started.run_id, agent_id });
  return null;
}

async function record(
  call: ToolCall,
  tool: ToolSnapshot,
  outcome: ToolOutcome,
  latency_ms: number,
  turn: Turn,
): Promise<void> {
  if ("later" in outcome) return void (await turn.record(askAgain(call, "output")));
  if ("child" in outcome) {
    await turn.record({ type: "subagent.waiting", tool_call_id: call.id, calls: outcome.calls });
    return;
  }
  const next = outcome.error && afterFailure(outcome.request, tool);
  if (next === "ask") return void (await turn.record(askAgain(call, "reconcile")));
  const isUnknown = next === "report";
  const told = isUnknown ? { ...outcome, error: outcomeUnknown(outcome.error!.message) } : outcome;
  await settle(call, told as Done, turn, async (left) => {
    // What is kept as a file was screened as well.
    const { output, error, files = [], usage, attempts }: Done = await bounded(left, tool, turn.ports.keepFile);
    return {
      status: isUnknown ? "unknown" : error ? "failed" : "completed",
      output,
      error,
      latency_ms,
      submitted: false,
      // Each earlier start of the step was an attempt too, as far as anybody knows.
      attempts: openStep(turn, call.id).attempt - 1 + attempts,
      ...(files.length > 0 && { files }),
      ...(usage && { usage }),
    };
  });
}

/** Ends a call with what guardrails leave of its result. */
async function settle(call: ToolCall, done: Done, turn: Turn, resultOf: (left: Done) => Result | Promise<Result>) {
  const { done: left, findings } = await screenResult(done, call.id, turn);
  const result = await resultOf(left);
  requireCurrent(turn);
  await turn.record(
    ...settleCall(call, result),
    ...decidedEvents(findings, turn.takeSteps(findings.length), call.turn_index),
  );
}

/** A call that now waits for somebody keeps its place and its arguments. */
function askAgain(call: ToolCall, needs: "output" | "reconcile") {
  const { id, step_index, turn_index, tool_id, tool, type, arguments: args } = call;
  const request = { id, step_index, turn_index, tool_id, tool, type, arguments: args, needs };
  return { type: "tool.requested", call: request } as const;
}

/** What is known of a call in the middle of which the process died: its request may have left. */
const cutShort = failed("process_restarted", "The process ended while the tool was running.", 1, "sent");
