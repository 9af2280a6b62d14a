import type { GuardrailPoint } from "../../domain/agent-snapshot.ts";
import { type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import type { ModelSpend, RunUsage } from "../../domain/run-event.ts";
import { addModelCall, noUsage, tokensOf } from "../../domain/usage.ts";
import { type CompiledGuardrail, compileGuardrails, guardrailsOn } from "../guardrails/compile.ts";
import { trigger } from "../guardrails/inspect.ts";
import { judgeRequest, readVerdict } from "../guardrails/judge.ts";
import { type Attempt, callWithRetry } from "./call-with-retry.ts";
import { runModels } from "./callee.ts";
import { collectText, idleTimeout, type Text } from "./collect-text.ts";
import type { RunContext } from "./run-context.ts";
import { spendingOf, withFindings } from "./spending.ts";

// Timeout of a judge: a verdict is one sentence.
const judgeMax_ms = 120_000;

/** Returns the judges of the run's agent at this point. */
export const judgesOn = ({ start }: Pick<RunContext, "start">, on: GuardrailPoint): CompiledGuardrail[] =>
  guardrailsOn(compileGuardrails(start.agent.guardrails ?? []), on).filter(({ kind }) => kind.about === "opinion");

/**
 * Asks judges one after the other until one blocks. Their cost is in the findings; `used` is the run's usage so far,
 * journaled or not.
 */
export async function askJudges(
  judges: readonly CompiledGuardrail[],
  on: GuardrailPoint,
  text: string,
  context: RunContext,
  used: RunUsage = context.state().usage,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const one of judges) {
    const finding = await askJudge(one, on, text, context, withFindings(used, findings));
    findings.push(finding);
    if (isBlocked(finding)) break;
  }
  return findings;
}

/** Asks one judge. A judge that cannot be asked, or whose answer cannot be parsed, counts as a violation. */
async function askJudge(
  one: CompiledGuardrail,
  on: GuardrailPoint,
  text: string,
  turn: RunContext,
  used: RunUsage,
): Promise<Finding> {
  const startedAt = performance.now();
  const { answer, fault, spent } = await answerOf(one, text, turn, used);
  const verdict = answer === null ? null : readVerdict(answer);
  const costs = { latency_ms: Math.round(performance.now() - startedAt), spent };
  const [found] = trigger(one, on, 1);
  if (!found) throw new Error("A judge that violates has no finding.");
  if (verdict?.violates) return { ...found, ...costs };
  if (!verdict) return { ...found, message: fault ?? "The judge's answer could not be read.", ...costs };
  const message = "The judge found no violation.";
  return { guardrail: found.guardrail, verdict: "passed", message, matches: 0, ...costs };
}

interface Answer {
  answer: string | null;
  fault: string | null;
  spent: ModelSpend | null;
}

async function answerOf(
  { guardrail }: CompiledGuardrail,
  text: string,
  turn: RunContext,
  used: RunUsage,
): Promise<Answer> {
  const { state, ports, signal } = turn;
  const request = judgeRequest(guardrail, text);
  const name = typeof guardrail.config.model === "string" ? guardrail.config.model : state().model;
  const { models, failover_on } = runModels(turn);
  const isKnown = await ports.modelNamed(name).then(
    () => true,
    () => false,
  );
  if (!isKnown) return { answer: null, fault: `The judge's model ${name} is not available.`, spent: null };
  let spent: ModelSpend | null = null;
  const count = ({ response, sent, callee }: Attempt<Text>) => {
    spent = sum(spent, { ...spendingOf(response, sent, callee.price, callee.at), ...callee.counted });
  };
  const ended = await callWithRetry<Text>(turn, {
    // The run's models replace a judge that is away: without a verdict the run would end.
    models: [{ model: name, context_window: null }, ...models.filter(({ model }) => model !== name)],
    failover_on,
    request: () => request,
    send: (sent, callee) =>
      ports.inPlace(
        () =>
          collectText(callee.model, sent, signal, {
            idle_ms: idleTimeout(callee),
            max_ms: judgeMax_ms,
            begins: callee.begins,
          }),
        callee.connection,
      ),
    again: async (failed) => failed && count(failed),
    used: () => (spent ? addModelCall(used, spent) : used),
  });
  const unasked = ({ message }: { message: string }): Answer => ({
    answer: null,
    fault: `The judge could not be asked: ${message}`,
    spent,
  });
  if ("refused" in ended) return unasked(ended.refused);
  count(ended);
  const { error, response } = ended;
  const { answer } = response;
  return error ? unasked(error) : { answer, fault: null, spent };
}

function sum(before: ModelSpend | null, spent: ModelSpend): ModelSpend {
  if (!before) return spent;
  const all = [before, spent].reduce(addModelCall, noUsage);
  const { model } = spent;
  const { cost_usd, estimated, cost_estimated } = all;
  return {
    usage: tokensOf(all),
    cost_usd,
    estimated,
    ...(cost_estimated && { cost_estimated }),
    ...(model !== undefined && { model }),
  };
}
