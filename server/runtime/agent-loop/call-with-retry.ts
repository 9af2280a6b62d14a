import type { FailoverReason } from "../../domain/failover.ts";
import type { FinishReason } from "../../domain/model-call.ts";
import type { CallResult, Outage } from "../../domain/outage.ts";
import { leftOutCode } from "../../domain/restart.ts";
import { runError } from "../../domain/run-error.ts";
import type { RunError, RunUsage } from "../../domain/run-event.ts";
import { timestamp } from "../../domain/time.ts";
import { onAbort } from "../../lib/on-abort.ts";
import type { ModelError, ModelRequest } from "../models/model.ts";
import { type Callee, connectedModel, openCallee, suitRequest } from "./callee.ts";
import { createModelLine, isOutage, type ModelLine } from "./model-line.ts";
import { createModelRetryPolicy, type ModelRetryPolicy, pauseBeforeMove, timeLeft } from "./model-retry-policy.ts";
import { limitToAllowance, reserveBudget } from "./reserve-budget.ts";
import { type RunContext, Superseded } from "./run-context.ts";

/** A request sent to a model, and its response. */
export interface Attempt<Response> {
  response: Response;
  sent: ModelRequest;
  callee: Callee;
}

/** The last attempt: with an answer, or an error that is not retried. */
interface Exchange<Response> extends Attempt<Response> {
  error: ModelError | null;
}

/** Start of the next attempt. */
interface Next {
  delay_ms: number;
  /** The model that is asked next, if it is another one. */
  model?: string;
}

interface ModelCall<Response> {
  /** The models that may answer, in the order in which they are asked. */
  models: readonly { model: string; context_window: number | null }[];
  /** Failures after which the next model is asked; absent: all. */
  failover_on?: readonly FailoverReason[];
  /** Returns the request for the model asked now. */
  request(): ModelRequest;
  send(request: ModelRequest, callee: Callee): Promise<Response>;
  /** Called before the next attempt, to record the failed one; null if no request was sent. */
  again(failed: Attempt<Response> | null, error: { code: string; message: string }, next: Next): Promise<unknown>;
  /** Usage of the run so far, journaled or not. */
  used?(): RunUsage;
  /** Ends the pauses between attempts: the next attempt sends nothing. */
  interruption?: AbortSignal | null;
}

interface Answered {
  error: ModelError | null;
  finish?: FinishReason | null;
  /** True if a message of the user ended it. */
  interrupted?: boolean;
}

/**
 * Asks a model, retries transient errors and moves on to the next model. Returns `refused` if the budget does not allow
 * the call, or no model can be called.
 */
export async function callWithRetry<Response extends Answered>(
  context: RunContext,
  call: ModelCall<Response>,
): Promise<Exchange<Response> | { refused: RunError }> {
  const { state, ports } = context;
  const line = createModelLine(call.models, call.failover_on);
  const policy = createModelRetryPolicy(() => timeLeft(state(), ports.now()));
  let asked = call.models[0]?.model ?? "";
  dropUnconnected(context, line);
  for (let isAdmitted = false; ; ) {
    if (!isAdmitted) {
      const admission = await admit(context, line.open(asked), policy);
      if ("refused" in admission) return admission;
      if (admission.model !== asked) {
        await call.again(null, leftOut(asked, admission.skipped), { delay_ms: 0, model: admission.model });
        asked = admission.model;
      }
    }
    const callee = await openCallee(context, asked);
    const attempt = await makeAttempt(context, call, callee);
    if ("refused" in attempt) {
      ports.breakers?.report(asked, { is: "unknown" });
      const other = await afterRefusal(context, line, asked, attempt.refused);
      if (other === null) {
        // The models before it failed only for now, and the budget has room for them.
        const passing = line.passing();
        const { delay_ms = null } = passing ? policy.after(passing) : {};
        if (delay_ms === null) return attempt;
        line.nextRound();
        const [next = asked] = line.open(call.models[0]?.model ?? asked);
        await call.again(null, attempt.refused, { delay_ms, model: next });
        [asked, isAdmitted] = [next, false];
        await pause(context, delay_ms, call.interruption);
        continue;
      }
      await call.again(null, attempt.refused, { delay_ms: 0, model: other });
      [asked, isAdmitted] = [other, true];
      continue;
    }
    if (attempt.response.interrupted) {
      ports.breakers?.report(asked, { is: "unknown" });
      return { ...attempt, error: null };
    }
    const error = attempt.response.error ?? filtered(attempt.response, call);
    report(context, asked, error);
    if (!error) return { ...attempt, error };
    const others = line.fail(asked, error);
    const pause_ms = others.length > 0 ? pauseBeforeMove(error, line.attempts(asked)) : null;
    const other = others.length > 0 && pause_ms === null ? await admitNow(context, others) : null;
    if (other !== null) {
      warnOfRefusal(context, asked, error);
      await call.again(attempt, error, { delay_ms: 0, model: other });
      [asked, isAdmitted] = [other, true];
      continue;
    }
    if (!attempt.response.error) return { ...attempt, error: null }; // A filtered answer is better than none.
    const { delay_ms, reason } = pause_ms === null ? lastPause(error, line, policy) : { delay_ms: pause_ms };
    if (delay_ms === null) return { ...attempt, error: line.summary(error, reason) };
    if (pause_ms === null) line.nextRound();
    else line.reopen(asked);
    const [next = asked] = line.open(call.models[0]?.model ?? asked);
    await call.again(attempt, error, { delay_ms, ...(pause_ms === null && next !== asked && { model: next }) });
    [asked, isAdmitted] = [pause_ms === null ? next : asked, false];
    await pause(context, delay_ms, call.interruption);
  }
}

/** Waits between attempts, until the run ends or is interrupted. */
async function pause({ ports, signal }: RunContext, ms: number, interruption?: AbortSignal | null): Promise<void> {
  if (!interruption) return ports.sleep(ms, signal);
  const wake = new AbortController();
  const forget = onAbort([signal, interruption], () => wake.abort());
  await ports.sleep(ms, wake.signal).finally(forget);
}

/** Sends one request, as far as the budget allows it. */
async function makeAttempt<Response>(
  context: RunContext,
  { request, send, used }: ModelCall<Response>,
  callee: Callee,
): Promise<Attempt<Response> | { refused: RunError }> {
  const suited = suitRequest(request(), callee, context.state());
  const allowed = await reserveBudget(context, suited, used?.(), callee.price, callee.at);
  if ("code" in allowed) return { refused: allowed };
  const sent = limitToAllowance(suited, allowed);
  const response = await send(sent, callee);
  if (!context.signal.aborted) return { response, sent, callee };
  context.ports.breakers?.report(callee.id, { is: "unknown" });
  throw new Superseded(); // The caller that aborted ends the step.
}

/** Logs what only the operator can repair: without a log, the other model would hide it for ever. */
function warnOfRefusal({ start, ports }: RunContext, model: string, { code, message }: ModelError): void {
  if (code !== "model_not_available") return;
  const fields = { run_id: start.run_id, model, error: message };
  ports.outlet.push({
    do: "log",
    level: "warn",
    message: "a model cannot be used, and the run asks the next one",
    fields,
  });
}

/** Decides whether the call waits for a model that failed transiently, once no other can be asked. */
function lastPause(error: ModelError, line: ModelLine, policy: ModelRetryPolicy) {
  // Compaction follows, which makes the prompt fit.
  if (error.code === "context_length_exceeded") return { delay_ms: null };
  return policy.after(line.passing() ?? error);
}

/** Returns a model for a call whose budget refuses the model that was to replace another; null if there is none. */
async function afterRefusal(context: RunContext, line: ModelLine, asked: string, { message }: RunError) {
  const isReplacement = line.hasFailed();
  const error = { message, retryable: false, retry_after_ms: null, aborted: false, request: "not_sent" } as const;
  line.drop(asked, { ...error, code: "model_not_available" });
  return isReplacement ? admitNow(context, line.open(asked)) : null;
}

/** Takes models out that no connection serves any more. */
function dropUnconnected({ start }: RunContext, line: ModelLine): void {
  if (!start.candidates) return;
  for (const model of line.open("")) if (!connectedModel(model, start)) line.drop(model, noConnection(model));
}

const noConnection = (model: string): ModelError => ({
  code: "model_not_available",
  message: `There is no connection for ${model}.`,
  retryable: false,
  retry_after_ms: null,
  aborted: false,
  request: "not_sent",
});

/** Chooses the model to ask, and waits for one while the circuit breakers of all are open. */
async function admit(
  { state, ports }: RunContext,
  models: readonly string[],
  policy: ModelRetryPolicy,
): Promise<{ model: string; skipped: Outage | null } | { refused: RunError }> {
  const since = ports.now();
  const admission = (await ports.breakers?.admit(models, policy.patience_ms())) ?? open(models);
  policy.waited(ports.now() - since);
  if (!("refused" in admission)) return admission;
  const message = admission.refused.map(sentenceOf).join(" ");
  return { refused: runError("model_error", message, state(), true) };
}

const open = ([model = ""]: readonly string[]) => ({ model, skipped: null });

/** Returns the first of these models that can be asked at once; null if there is none. */
async function admitNow({ ports }: RunContext, models: readonly string[]): Promise<string | null> {
  const [first = null] = models;
  if (first === null || !ports.breakers) return first;
  const admission = await ports.breakers.admit(models, 0);
  return "refused" in admission ? null : admission.model;
}

const sentenceOf = ({ model, since_ms, error }: Outage): string =>
  `${model} has not answered since ${timestamp(since_ms)}: ${error.message}`;

/** Reason to ask another model than the one that was to be asked. */
const leftOut = (model: string, outage: Outage | null) =>
  outage?.model === model
    ? { code: leftOutCode, message: sentenceOf(outage) }
    : { code: "model_not_available", message: `There is no connection for ${model}.` };

/** Returns an error for an answer that a content filter stopped, if another model is to be asked then. */
function filtered(
  { finish }: Answered,
  { failover_on = [] }: Pick<ModelCall<unknown>, "failover_on">,
): ModelError | null {
  if (finish !== "content_filter" || !failover_on.includes("content_filter")) return null;
  const message = "A content filter of the provider stopped the answer.";
  const error = { retryable: false, retry_after_ms: null, aborted: false, request: "sent", filtered: true } as const;
  return { code: "model_error", message, ...error };
}

function resultOf(error: ModelError): CallResult {
  const { code, message, aborted, retry_after_ms } = error;
  if (isOutage(error)) return { is: "failed", error: { code, message }, retry_after_ms };
  return { is: aborted ? "unknown" : "answered" };
}

/** Tells the model's circuit breaker how the call ended. Every answer proves that the server is there. */
function report({ ports }: RunContext, model: string, error: ModelError | null): void {
  ports.breakers?.report(model, error === null ? { is: "answered" } : resultOf(error));
}
