import { planContext } from "../../domain/context.ts";
import { type CompactionPlan, compactedEvents } from "../../domain/drop-messages.ts";
import { decidedEvents, type Finding } from "../../domain/guardrail-event.ts";
import { newId } from "../../domain/ids.ts";
import { processRestarted, restartStep } from "../../domain/restart.ts";
import type { ModelSpend, RunError } from "../../domain/run-event.ts";
import { endStep } from "../../domain/step-events.ts";
import { fitSummary, summaryRequest } from "../../domain/summary.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { compileGuardrails, withoutKinds } from "../guardrails/compile.ts";
import { searchInSlices } from "../guardrails/in-slices.ts";
import { screenText } from "../guardrails/inspect.ts";
import { type Attempt, callWithRetry } from "./call-with-retry.ts";
import { runModels } from "./callee.ts";
import { collectText, idleTimeout, type Text } from "./collect-text.ts";
import { currentStep, type RunContext } from "./run-context.ts";
import { spendingOf } from "./spending.ts";

// Limits an answer's length: a model may never stop.
const lengthMax = 262_144;

type Fault = Pick<RunError, "code" | "message" | "retryable">;

/**
 * Runs one step: asks the run's own model to summarize the messages that no longer fit. Drops them without a summary if
 * their record is still too long; fails the run if the model cannot be asked.
 */
export async function compact(turn: RunContext): Promise<void> {
  const { state, start, ports, signal } = turn;
  const startedAt = performance.now();
  await begin(turn);
  const cut = planContext(state(), start.agent) as CompactionPlan; // Same result as when the step began: nothing has changed since.
  const request = summaryRequest(state(), start.agent, cut);
  const ended = await callWithRetry<Text>(turn, {
    ...runModels(turn),
    request: () => request,
    async send(sent, callee) {
      failpoint?.("before_effect.model_call");
      const response = await ports.inPlace(
        () =>
          collectText(callee.model, sent, signal, { idle_ms: idleTimeout(callee), lengthMax, begins: callee.begins }),
        callee.connection,
      );
      failpoint?.("after_effect.model_call");
      return response;
    },
    again: (failed, { code, message }, next) =>
      turn.record(
        restartStep(openCompaction(turn), { code, message }, { ...next, ...(failed && { spent: spentOn(failed) }) }),
      ),
  });
  if ("refused" in ended) return fail(turn, ended.refused, null, startedAt);
  const { error, response } = ended;
  const { answer } = response;
  const spent = spentOn(ended);
  // The shortened record still exceeds the model's window, so a summary is impossible.
  if (error && error.code !== "context_length_exceeded") return fail(turn, error, spent, startedAt);
  return finish(turn, cut, error ? "" : answer, spent, startedAt);
}

const spentOn = ({ response, sent, callee }: Attempt<Text>): ModelSpend => ({
  ...spendingOf(response, sent, callee.price, callee.at),
  ...callee.counted,
});

const openCompaction = (turn: RunContext) => currentStep(turn, "compaction");

async function begin(turn: RunContext): Promise<void> {
  const step = openCompaction(turn);
  if (step.run_attempt !== turn.state().attempt)
    await turn.record(restartStep(step, processRestarted("the conversation was being shortened")));
}

async function finish(
  turn: RunContext,
  cut: CompactionPlan,
  text: string,
  spent: ModelSpend,
  begun: number,
): Promise<void> {
  const { step_index, turn_index } = openCompaction(turn);
  const screened = await screen(text, turn);
  // An empty summary does not replace the previous one.
  const before = turn.state().compacted?.summary ?? null;
  const summary = screened.text === "" ? before : fitSummary(screened.text, cut);
  const latency_ms = Math.round(performance.now() - begun);
  await turn.record(
    ...decidedEvents(screened.findings, turn.takeSteps(screened.findings.length), turn_index),
    ...compactedEvents(cut, { step_index, summary, latency_ms, spent }),
  );
}

/**
 * Applies output guardrails to a summary. It has no shape to keep, and blocked text does not end the run, which
 * continues without a summary. Judges are not asked, because only the model reads it.
 */
async function screen(text: string, { start }: RunContext): Promise<{ text: string; findings: Finding[] }> {
  const list = withoutKinds(compileGuardrails(start.agent.guardrails ?? []), "shape", "length", "opinion");
  if (list.length === 0 || text === "") return { text, findings: [] };
  const { value, triggered, blocked } = screenText(await searchInSlices(list, "output", [text]), "output", text);
  const findings = triggered.map((one) => (one.verdict === "blocked" ? { ...one, verdict: "redacted" as const } : one));
  return { text: blocked ? "" : value, findings };
}

/** Fails the run because its model could not be asked for a summary. */
async function fail(turn: RunContext, fault: Fault, spent: ModelSpend | null, begun: number): Promise<void> {
  const { code, message, retryable } = fault;
  const nothing = { message_id: newId("message"), parts: [], deltas: [], finish: null, time_to_first_token_ms: null };
  await turn.record(
    endStep({
      step_index: openCompaction(turn).step_index,
      step_type: "compaction",
      status: "failed",
      latency_ms: Math.round(performance.now() - begun),
      error: { code, message, retryable },
      answer: spent && { ...spent, ...nothing },
    }),
  );
}
