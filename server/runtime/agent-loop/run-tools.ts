import { afterFailure, outcomeUnknown } from "../../domain/after-failure.ts";
import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { completeCall, type Result, stepTypeOf } from "../../domain/complete-call.ts";
import { decidedEvents, type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import { imageTypes } from "../../domain/image-types.ts";
import { limits } from "../../domain/limits.ts";
import type { ImageFacts } from "../../domain/model-call.ts";
import { toolText } from "../../domain/prompt.ts";
import { replayResult } from "../../domain/replay-lookup.ts";
import { requestAuthorization } from "../../domain/required-action.ts";
import { processRestarted, restartStep } from "../../domain/restart.ts";
import type { Elicitation, FileFacts, Needs, ToolRequest } from "../../domain/run-event.ts";
import { isOver, type OpenStep, type ToolCall } from "../../domain/run-state.ts";
import { addChildRun } from "../../domain/usage.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { type CompiledGuardrails, compileGuardrails, guardrailsOn, withoutKinds } from "../guardrails/compile.ts";
import { screenInSlices } from "../guardrails/in-slices.ts";
import { standingOf } from "../models/spend-guard.ts";
import { createCallProgress, type TellProgress } from "./call-progress.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { type RunContext, Superseded } from "./run-context.ts";
import { toolSearch } from "./tool-search.ts";
import { type ToolOutcome, type ToolResult, toolError } from "./tools/tool-result.ts";
import { truncateOutput } from "./truncate-output.ts";

/** Most pictures of one result that the model is shown; the others are files only. */
const shownMost = 8;

/** Runs calls concurrently. They are journaled before; each result is recorded as it arrives. */
export async function runTools(calls: readonly ToolCall[], context: RunContext): Promise<void> {
  const isJudged = judgesOn(context, "tool_output").length > 0;
  const inLine: InLine = isJudged ? createLine() : (work) => work();
  const ended = await Promise.allSettled(calls.map((call) => runCall(call, context, inLine)));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

type InLine = (work: () => Promise<void>) => Promise<void>;

/** Runs work one at a time, so that a judge's cost is journaled before the next judge is asked. */
function createLine(): InLine {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

async function runCall({ id }: ToolCall, turn: RunContext, inLine: InLine): Promise<void> {
  const call = () => requireRecorded(turn.state().calls, (each) => each.id === id);
  const step = openStep(turn, id);
  const replayed = replayResult(turn.state(), call());
  if (replayed) return takeRecorded(call(), replayed, turn, inLine);
  const tool = requireRecorded(turn.start.agent.tools, ({ name }) => name === call().tool);
  if (step.run_attempt < turn.state().attempt) {
    if (afterFailure("sent", tool) !== "repeat") {
      const latency_ms = Math.max(0, turn.ports.now() - step.started_at);
      return inLine(() => record(call(), tool, cutShort, latency_ms, turn));
    }
    await turn.record(restartStep(step, processRestarted("the tool was running")));
  }
  const startedAt = performance.now();
  failpoint?.(`before_effect.${stepTypeOf(tool.type)}`);
  const recorded = Promise.withResolvers<void>();
  const progress = progressOf(call(), turn);
  try {
    const outcome = await outcomeOf(call, tool, turn, recorded.promise, progress.tell);
    await progress.stop();
    failpoint?.(`after_effect.${stepTypeOf(tool.type)}`);
    const latency_ms = Math.round(performance.now() - startedAt);
    await inLine(async () => {
      requireCurrent(turn);
      await record(call(), tool, outcome, latency_ms, turn);
    });
  } finally {
    recorded.resolve();
    void progress.stop();
  }
}

/** Journals the progress of a call. Its texts are withheld if guardrails check the result, which they may be part of. */
function progressOf(call: ToolCall, turn: RunContext): ReturnType<typeof createCallProgress> {
  const progress = createCallProgress({
    call,
    count: call.progress_events ?? 0,
    record: (events) => turn.record(...events),
  });
  const isScreened = (turn.start.agent.guardrails ?? []).some(({ on }) => on.includes("tool_output"));
  return {
    stop: progress.stop,
    tell(kind, read) {
      if (!isScreened) progress.tell(kind, read);
      else if (kind === "progress") progress.tell(kind, () => ({ ...read(), message: null }));
    },
  };
}

/** Uses a recorded result instead of running the call, after guardrails have checked it. */
async function takeRecorded(
  call: ToolCall,
  { status, output, error, images, workspace }: NonNullable<ReturnType<typeof replayResult>>,
  turn: RunContext,
  inLine: InLine,
): Promise<void> {
  await inLine(async () => {
    requireCurrent(turn);
    const done: ToolResult = error ? toolError(error.code, error.message, 0) : { output, error: null, attempts: 0 };
    await settle(call, done, turn, (left) => ({
      output: left.output,
      error: left.error,
      attempts: 0,
      latency_ms: 0,
      submitted: false,
      recorded: true,
      status: left.error && !error ? "failed" : status,
      ...(images && !(left.error && !error) && { images }),
      ...(workspace && !(left.error && !error) && { workspace }),
    }));
  });
}

/** Throws `Superseded` if a guardrail has ended the run because of another call's result. */
function requireCurrent({ signal, state }: RunContext): void {
  if (signal.aborted || isOver(state().status)) throw new Superseded();
}

const openStep = (turn: RunContext, callId: string): OpenStep =>
  requireRecorded(turn.state().open, ({ tool_call_id }) => tool_call_id === callId);

/** Returns the item that `isSought`. Throws if there is none: a call that runs has its step and its tool. */
function requireRecorded<T>(items: readonly T[], isSought: (item: T) => boolean): T {
  const found = items.find(isSought);
  if (found === undefined) throw new Error("A call runs without its record.");
  return found;
}

async function outcomeOf(
  call: () => ToolCall,
  tool: ToolSnapshot,
  turn: RunContext,
  recorded: Promise<void>,
  tell: TellProgress,
): Promise<ToolOutcome> {
  try {
    if (tool.type === "tool_search") return toolSearch(call(), turn);
    return (
      (await startChild(call(), tool, turn)) ??
      (await turn.ports.runTool(call(), tool, turn.signal, recorded, {
        standing: () => standingOf(turn.state()),
        workspace: (owner) => turn.state().workspaces?.[owner] ?? null,
        tell,
      }))
    );
  } catch (error) {
    // An aborted tool throws: neither an internal error nor an event.
    throw turn.signal.aborted ? new Superseded() : error;
  }
}

/**
 * Starts the child run of an agent tool and records it before waiting for it. Returns null if there is one to wait for.
 */
async function startChild(call: ToolCall, tool: ToolSnapshot, turn: RunContext): Promise<ToolOutcome | null> {
  if (tool.type !== "agent" || call.child) return null;
  const { id: tool_call_id } = call;
  const { agent_id } = tool.agent;
  const started = await turn.ports.startChild({ tool_call_id, ...tool.agent, input: String(call.arguments.input) });
  if ("refused" in started) return toolError(started.refused.code, started.refused.message, 0);
  await turn.record({ type: "subagent.started", tool_call_id, run_id: started.run_id, agent_id });
  return null;
}

async function record(
  call: ToolCall,
  tool: ToolSnapshot,
  outcome: ToolOutcome,
  latency_ms: number,
  turn: RunContext,
): Promise<void> {
  if ("authorization" in outcome) return void (await turn.record(requestAuthorization(call, outcome.authorization)));
  if ("later" in outcome) return void (await turn.record(askAgain(call, "output")));
  if ("child" in outcome) {
    await turn.record({ type: "subagent.waiting", tool_call_id: call.id, calls: outcome.calls });
    return;
  }
  if ("elicitation" in outcome) return void (await turn.record(askUser(call, outcome.elicitation)));
  const next = outcome.error && afterFailure(outcome.request, tool);
  if (next === "ask") return void (await turn.record(askAgain(call, "reconcile")));
  const isUnknown = next === "report";
  const error = isUnknown && outcome.error ? outcomeUnknown(outcome.error.message) : outcome.error;
  await settle(call, { ...outcome, error } as ToolResult, turn, async (left) => {
    // The stored file has only screened content.
    const {
      output,
      error,
      files = [],
      usage,
      attempts,
      workspace,
    }: ToolResult = await truncateOutput(left, tool, turn.ports.keepFile);
    const images = shownImages(files);
    return {
      status: isUnknown ? "unknown" : error ? "failed" : "completed",
      output,
      error,
      latency_ms,
      submitted: false,
      // Each earlier start of the step counts as an attempt.
      attempts: openStep(turn, call.id).attempt - 1 + attempts,
      ...(files.length > 0 && { files }),
      ...(images.length > 0 && { images }),
      ...(usage && { usage }),
      ...(workspace && { workspace }),
    };
  });
}

/** Returns the pictures among a call's files that the model is shown. */
const shownImages = (files: readonly FileFacts[]): ImageFacts[] =>
  files
    .filter(({ mime_type, bytes }) => imageTypes.has(mime_type) && bytes <= limits.image_bytes)
    .slice(0, shownMost)
    .map(({ id: file_id, mime_type, sha256 }) => ({ file_id, mime_type, sha256 }));

/** Completes a call with its result after guardrails. */
async function settle(
  call: ToolCall,
  done: ToolResult,
  turn: RunContext,
  resultOf: (left: ToolResult) => Result | Promise<Result>,
) {
  const { done: left, findings } = await screenResult(done, call.id, turn);
  const result = await resultOf(left);
  requireCurrent(turn);
  await turn.record(
    ...completeCall(call, result),
    ...decidedEvents(findings, turn.takeSteps(findings.length), call.turn_index),
  );
}

/** Returns the event for a call that now requires action; it keeps its place and its arguments. */
function askAgain(call: ToolCall, needs: Needs, more: Pick<ToolRequest, "elicitation"> = {}) {
  const { id, step_index, turn_index, tool_id, tool, type, arguments: args } = call;
  const request = { id, step_index, turn_index, tool_id, tool, type, arguments: args, needs, ...more };
  return { type: "tool.requested", call: request } as const;
}

const askUser = (call: ToolCall, elicitation: Elicitation) => askAgain(call, "elicitation", { elicitation });

/** Result of a call during which the process died: its request may have been sent. */
const cutShort = toolError("process_restarted", "The process ended while the tool was running.", 1, "sent");

/** Applies guardrails to a tool's result before it is journaled or stored. */
async function screenResult(
  done: ToolResult,
  tool_call_id: string,
  turn: RunContext,
): Promise<{ done: ToolResult; findings: Finding[] }> {
  const list = compileGuardrails(turn.start.agent.guardrails ?? []);
  if (guardrailsOn(list, "tool_output").length === 0) return { done, findings: [] };
  const { triggered, blocked, ...left } = await screenDone(list, done);
  const judges = blocked ? [] : judgesOn(turn, "tool_output");
  const { usage } = turn.state();
  const used = done.usage ? addChildRun(usage, done.usage) : usage;
  const verdicts = await askJudges(judges, "tool_output", toolText(left.done).output, turn, used);
  const findings = [...triggered, ...verdicts].map((finding) => ({ ...finding, tool_call_id }));
  const block = findings.find(isBlocked);
  return { done: block ? withheld(left.done, block.message) : left.done, findings };
}

/** Checks an output, or an error's message (as text without a shape). */
async function screenDone(list: CompiledGuardrails, done: ToolResult) {
  if (!done.error) {
    const { value, triggered, blocked } = await screenInSlices(list, "tool_output", done.output);
    return { done: { ...done, output: value }, triggered, blocked };
  }
  const { value, triggered, blocked } = await screenInSlices(
    withoutKinds(list, "shape"),
    "tool_output",
    done.error.message,
  );
  return { done: { ...done, error: { ...done.error, message: String(value) } }, triggered, blocked };
}

/** Replaces a blocked result, without its files and its workspace, because they contain the same content. */
const withheld = ({ attempts, usage }: ToolResult, message: string): ToolResult => ({
  ...toolError("guardrail_blocked", message, attempts),
  ...(usage && { usage }),
});
