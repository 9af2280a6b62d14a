import { planContext } from "../core/context.ts";
import { decidedEvents, type Finding } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import { type Cut, compactedEvents } from "../core/leave-out.ts";
import { processRestarted, restartStep } from "../core/restart.ts";
import type { ModelSpend, RunError } from "../core/run-event.ts";
import { openStep } from "../core/run-state.ts";
import { endStep } from "../core/step-events.ts";
import { fitSummary, summaryRequest } from "../core/summary.ts";
import { compileGuardrails, except } from "../guardrails/compile.ts";
import { searched } from "../guardrails/in-slices.ts";
import { screenText } from "../guardrails/inspect.ts";
import { failpoint } from "../lib/failpoint.ts";
import { runPrice } from "../models/run-price.ts";
import { ask, hear, idleTimeout } from "./ask.ts";
import { spendingOf } from "./spending.ts";
import type { Turn } from "./turn.ts";

// A model that does not come to an end may not fill the memory.
const saidMax = 262_144;

type Fault = Pick<RunError, "code" | "message" | "retryable">;

/**
 * One step: asks the run's own model for a summary of what its prompt has no more room for. Where there is none to be
 * had from what may be said, the oldest is left out without one; a model that cannot be asked ends the run.
 */
export async function compact(turn: Turn): Promise<void> {
  const { state, start, ports, signal } = turn;
  const begun = performance.now();
  await begin(turn);
  const cut = planContext(state(), start.agent) as Cut; // The same as when the step began: nothing has changed since.
  const request = summaryRequest(state(), start.agent, cut);
  const price = runPrice(state().run!);
  const ended = await ask(turn, request, {
    async send(asked) {
      failpoint?.("before_effect.model_call");
      const heard = await ports.inPlace(() =>
        hear(ports.model, asked, signal, { idle_ms: idleTimeout(start), saidMax }),
      );
      failpoint?.("after_effect.model_call");
      return heard;
    },
    again: (heard, asked, { code, message }, delay_ms) =>
      turn.record(
        restartStep(openCompaction(turn), { code, message }, { delay_ms, spent: spendingOf(heard, asked, price) }),
      ),
  });
  if ("refused" in ended) return fail(turn, ended.refused, null, begun);
  const { error, answer } = ended.heard;
  const spent = spendingOf(ended.heard, ended.asked, price);
  // The record was cut to what should fit, and does not: no summary can be had of it.
  if (error && error.code !== "context_length_exceeded") return fail(turn, error, spent, begun);
  return finish(turn, cut, error ? "" : answer, spent, begun);
}

const openCompaction = ({ state }: Turn) => openStep(state(), "compaction")!;

async function begin(turn: Turn): Promise<void> {
  const step = openCompaction(turn);
  if (step.run_attempt !== turn.state().attempt)
    await turn.record(restartStep(step, processRestarted("the conversation was being shortened")));
}

async function finish(turn: Turn, cut: Cut, text: string, spent: ModelSpend, begun: number): Promise<void> {
  const { step_index, turn_index } = openCompaction(turn);
  const screened = await screen(text, turn);
  // What was summarised before stays, where nothing better has come.
  const before = turn.state().compacted?.summary ?? null;
  const summary = screened.text === "" ? before : fitSummary(screened.text, cut);
  const latency_ms = Math.round(performance.now() - begun);
  await turn.record(
    ...decidedEvents(screened.findings, turn.takeSteps(screened.findings.length), turn_index),
    ...compactedEvents(cut, { step_index, summary, latency_ms, spent }),
  );
}

/**
 * What the guardrails of answers leave of a summary. It is no answer, so it has no shape to keep to, and what is blocked
 * in it does not end the run: it goes on without the summary. Judges are not asked: nobody reads it but the model.
 */
async function screen(text: string, { start }: Turn): Promise<{ text: string; findings: Finding[] }> {
  const list = except(compileGuardrails(start.agent.guardrails ?? []), "shape", "length", "opinion");
  if (list.length === 0 || text === "") return { text, findings: [] };
  const { value, triggered, blocked } = screenText(await searched(list, "output", [text]), "output", text);
  const findings = triggered.map((one) => (one.verdict === "blocked" ? { ...one, verdict: "redacted" as const } : one));
  return { text: blocked ? "" : value, findings };
}

/** A model that could not be asked for a summary: the run fails of it. */
async function fail(turn: Turn, fault: Fault, spent: ModelSpend | null, begun: number): Promise<void> {
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
