import { validateAgainst } from "../lib/json-schema.ts";
import { requireValue } from "../lib/require-value.ts";
import { completeCall } from "./complete-call.ts";
import { equalJson } from "./equal.ts";
import { AppError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { ImageFacts } from "./model-call.ts";
import { requiredAction } from "./required-action.ts";
import { restartStep } from "./restart.ts";
import type { Decision, ElicitationAnswer, RunEvent, ToolError } from "./run-event.ts";
import { applyAll, isAwaitingAnswer, pendingCalls, type RunState, type RunStatus, type ToolCall } from "./run-state.ts";

/** One answer of a client (contract, section 7). `undefined` means absent; an `output` of null is an output. */
export interface ToolAnswer {
  tool_call_id: string;
  output?: unknown;
  /** Pictures of the output, already files. */
  images?: ImageFacts[];
  is_error?: boolean;
  decision?: Decision;
  reason?: string;
  arguments?: Record<string, unknown>;
  elicitation?: SubmittedElicitation;
}

/** Answer to the open question of a call, or to the one with this id. */
type SubmittedElicitation = Omit<ElicitationAnswer, "id"> & Partial<Pick<ElicitationAnswer, "id">>;

/** Validates edited arguments by the tool's schema; returns the faults. */
export type CheckArguments = (call: ToolCall, args: Record<string, unknown>) => string[];

/**
 * Returns the events of these answers, all or nothing; empty if every answer was submitted before. Throws `AppError`
 * for the first invalid answer, by its index in the request, which may contain answers for several runs.
 */
export function submitEvents(
  state: RunState,
  answers: readonly ToolAnswer[],
  check: CheckArguments,
  at: number,
  places: readonly number[] = answers.map((_, index) => index),
): RunEvent[] {
  refuseTwice(answers);
  const newAnswers = answers.flatMap((answer, index) => {
    const param = `tool_outputs[${places[index]}]`;
    const call = find(state, answer, param);
    return isRepeated(call, answer) ? [] : [{ call, answer, param }];
  });
  if (newAnswers.length === 0) return [];
  const answered = (call: ToolCall) => call.submitted || (call.approved && call.needs === null);
  for (const { call, param } of newAnswers) if (answered(call)) throw resolved(call, param);
  if (state.status !== "requires_action") throw notAwaiting(state.status);
  for (const { call, param } of newAnswers) if (call.needs === null) throw resolved(call, param);
  const events = newAnswers.flatMap(({ call, answer, param }) => answerEvents(state, call, answer, param, check, at));
  return [...events, waitOrGoOn(state, events, at)];
}

/** Error of a run that waits for nothing, or no longer. */
export const notAwaiting = (status: RunStatus) =>
  new AppError("run_not_awaiting_action", `The run is ${status}: it waits for no tool output.`);

/** Throws if two answers are for the same call. */
export function refuseTwice(answers: readonly ToolAnswer[]): void {
  const seen = new Set<string>();
  answers.forEach(({ tool_call_id }, index) => {
    const param = `tool_outputs[${index}].tool_call_id`;
    if (seen.has(tool_call_id)) throw new AppError("validation_failed", `${param} names a tool call twice.`, { param });
    seen.add(tool_call_id);
  });
}

function find(state: RunState, { tool_call_id }: ToolAnswer, param: string): ToolCall {
  const call = state.calls.find(({ id }) => id === tool_call_id);
  if (call) return call;
  throw new AppError("tool_call_not_found", `This run has no tool call ${tool_call_id}.`, {
    param: `${param}.tool_call_id`,
  });
}

const resolved = (call: ToolCall, param: string) =>
  new AppError("tool_call_already_resolved", `Tool call ${call.id} already has another answer.`, {
    param: `${param}.tool_call_id`,
  });

/** True if the same answer was submitted before, so that a retry after a lost response succeeds. */
function isRepeated(call: ToolCall, answer: ToolAnswer): boolean {
  const { output, is_error, decision, arguments: args, images = [] } = answer;
  if (answer.elicitation) return isAnswered(call, answer.elicitation);
  if (decision === "approve") return call.approved && (args === undefined || equalJson(args, call.arguments));
  if (decision === "reject") return call.status === "rejected";
  if (!call.submitted) return false;
  const hashes = (list: readonly ImageFacts[]) => list.map(({ sha256 }) => sha256);
  if (!equalJson(hashes(call.images ?? []), hashes(images))) return false;
  return is_error ? equalJson(call.error, clientError(output)) : call.error === null && equalJson(call.output, output);
}

/** True if the newest question, or the one with this id, has this answer. */
function isAnswered({ needs, answered = [] }: ToolCall, { id, ...given }: SubmittedElicitation): boolean {
  const found =
    id === undefined ? (needs === null ? answered.at(-1) : undefined) : answered.find((one) => one.id === id);
  return found !== undefined && equalJson({ id: found.id, ...given }, found.answer);
}

function answerEvents(
  state: RunState,
  call: ToolCall,
  answer: ToolAnswer,
  param: string,
  check: CheckArguments,
  at: number,
): RunEvent[] {
  const { output, images, decision, arguments: args, is_error, reason } = answer;
  const refuse = (message: string, field: string) =>
    new AppError("validation_failed", message, { param: `${param}.${field}` });
  if (answer.elicitation) return answerQuestion(call, answer.elicitation, param);
  if (call.needs === "elicitation")
    throw refuse("This call needs an answer to the question of its server.", "elicitation");
  if (call.needs === "output" && decision && call.approved) throw resolved(call, param);
  if (call.needs === "output" && decision) throw refuse("This call needs an output, not a decision.", "decision");
  if (call.needs === "output" && output === undefined) throw refuse("This call needs an output.", "output");
  if (call.needs === "approval" && !decision)
    throw refuse('This call needs a decision: "approve" or "reject".', "decision");
  if (call.needs === "reconcile" && !decision && output === undefined)
    throw refuse("Give an output, or a decision.", "output");
  if (call.needs === "authorization" && decision !== "reject")
    throw refuse("This call waits for the user's consent. It can only be rejected.", decision ? "decision" : "output");
  if (decision && output !== undefined) throw refuse("Give an output or a decision, not both.", "decision");
  if (args && decision !== "approve") throw refuse("Arguments are edited only when a call is approved.", "arguments");
  if (new TextEncoder().encode(JSON.stringify(output ?? null)).length > limits.tool_output_bytes)
    throw new AppError("payload_too_large", `An output has at most ${limits.tool_output_bytes} bytes.`, {
      param: `${param}.output`,
    });
  const [fault] = args ? check(call, args) : [];
  if (fault) throw refuse(fault, "arguments");
  if (decision === "approve") return approve(state, call, reason ?? null, args ?? null);
  if (decision === "reject") return settle(call, "rejected", null, rejection(call, reason), at);
  return is_error
    ? settle(call, "failed", null, clientError(output), at, images)
    : settle(call, "completed", output, null, at, images);
}

function answerQuestion(call: ToolCall, { id, action, content }: SubmittedElicitation, param: string): RunEvent[] {
  const { elicitation: question } = call;
  const refuse = (message: string, field: string) =>
    new AppError("validation_failed", message, { param: `${param}.elicitation${field}` });
  if (call.needs !== "elicitation" || !question) throw refuse("This call waits for no answer to a question.", "");
  if (id !== undefined && id !== question.id) throw resolved(call, param);
  const schema = question.requested_schema;
  if (content && (action !== "accept" || !schema))
    throw refuse("A content is the answer to a form that is accepted.", ".content");
  if (schema && action === "accept") {
    const [fault] = validateAgainst(schema, content ?? {});
    if (fault) throw refuse(`${fault.path || "The content"}: ${fault.message}`, ".content");
  }
  return [
    {
      type: "tool.decided",
      tool_call_id: call.id,
      decision: "answer",
      reason: null,
      elicitation: { id: question.id, action, ...(content && { content }) },
      arguments: null,
      needs: null,
    },
  ];
}

function approve(
  state: RunState,
  call: ToolCall,
  reason: string | null,
  args: Record<string, unknown> | null,
): RunEvent[] {
  const needs = call.needs === "approval" && call.type === "client" ? "output" : null;
  const decided: RunEvent = {
    type: "tool.decided",
    tool_call_id: call.id,
    decision: "approve",
    reason,
    arguments: args,
    needs,
  };
  if (call.needs !== "reconcile") return [decided];
  const step = state.open.find((open) => open.tool_call_id === call.id);
  if (!step) throw new Error(`The call ${call.id} has no open step.`);
  return [decided, restartStep(step, { code: "approved_again", message: "A person said to run the call again." })];
}

function settle(
  call: ToolCall,
  status: "completed" | "failed" | "rejected",
  output: unknown,
  error: ToolError | null,
  at: number,
  images: ImageFacts[] = [],
): RunEvent[] {
  const latency_ms = Math.max(0, at - call.created_at);
  const result = {
    status,
    output,
    error,
    latency_ms,
    attempts: call.attempts,
    submitted: true,
    ...(images.length > 0 && { images }),
  };
  const isRefused = status === "rejected" && (call.needs === "approval" || call.needs === "authorization");
  return completeCall(call, isRefused ? { ...result, refused: true } : result);
}

/** Code of a call for which the user refused the consent. */
const authorizationDenied = "authorization_denied";

/** Error for the model, of a call that failed at the client. */
export const clientError = (output: unknown): ToolError => ({
  code: "client_error",
  message: typeof output === "string" ? output : JSON.stringify(output ?? null),
});

function rejection({ needs }: ToolCall, reason: string | undefined): ToolError {
  const reasonText = reason ? ` Reason: ${reason}` : "";
  if (needs === "reconcile") return { code: "not_executed", message: `The call did not happen.${reasonText}` };
  if (needs === "authorization")
    return { code: authorizationDenied, message: `The user did not allow the use of the account.${reasonText}` };
  return { code: "rejected", message: `A person rejected this call.${reasonText}` };
}

/** Resumes the run, pauses it if that is requested, or keeps it waiting for unanswered calls with the same expiry. */
export function waitOrGoOn(state: RunState, events: readonly RunEvent[], at: number): RunEvent {
  const waiting = pendingCalls(applyAll(state, events, at)).filter(isAwaitingAnswer);
  if (waiting.length === 0) return { type: state.pause ? "run.paused" : "run.resumed" };
  return { type: "run.requires_action", required_action: requiredAction(waiting, expiry(state)) };
}

/** Returns the expiry of the run's own calls; those of child runs expire separately. */
function expiry({ run, waiting_since, required_action }: RunState): number {
  const own = required_action?.submit_tool_outputs.tool_calls.find(({ run_id }) => run_id === undefined);
  return own
    ? Date.parse(own.expires_at)
    : requireValue(waiting_since, "The start of the wait") + run.action_timeout_ms;
}
