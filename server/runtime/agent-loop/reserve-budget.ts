import { allowance, budgetMessage, unrecordedUsage, worstCase } from "../../domain/budget.ts";
import type { ModelRequest } from "../../domain/model-call.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { toolsWorstUsd } from "../../domain/provider-tools.ts";
import { runError } from "../../domain/run-error.ts";
import type { RunError, RunUsage } from "../../domain/run-event.ts";
import { dearestInTier } from "../../domain/service-tier.ts";
import { runPrice } from "../models/run-price.ts";
import type { RunContext } from "./run-context.ts";
import type { Asked } from "./spending.ts";

/** Limits of a model call. */
interface Allowed {
  /** Maximum length of the answer in the request; null: not limited. */
  max_output_tokens: number | null;
}

/**
 * Returns the limits of a model call, or an error if the run's or the day's budget has no room for it. Call it before
 * every attempt. The day's share stays reserved until the journal has the call's cost; `used` includes usage not
 * journaled yet; `listed` is the price of the model to be asked, and `asked` is its provider and its name there.
 */
export async function reserveBudget(
  { state, start, ports }: RunContext,
  request: ModelRequest,
  used: RunUsage = state().usage,
  listed: ModelPrice | null = runPrice(state()),
  asked: Asked = { provider: start.connection.provider, model: start.model },
): Promise<Allowed | RunError> {
  const price = dearestInTier(listed, asked.provider, asked.tier ?? null);
  const { run, usage } = state();
  const budget = run.budget ?? {};
  const isBounded = budget.max_total_tokens !== undefined || budget.max_cost_usd !== undefined;
  // Without a budget the prompt is not counted, because it may be long.
  const toolsUsd = toolsWorstUsd(asked.provider, asked.model, request.provider_tools ?? []);
  const own = isBounded ? allowance(budget, used, price, request, start.unknown_price, toolsUsd) : null;
  if (own && "exceeded" in own) return runError("budget_exceeded", budgetMessage(own), state());
  const day = await ports.reserve(() => ({
    ...(own?.worst ?? worstCase(request, price, toolsUsd)),
    ...(used !== usage && { unrecorded: unrecordedUsage(used, usage) }),
  }));
  if (day && !day.granted) return runError("budget_exceeded", day.message, state(), true); // Retryable: tomorrow has a new budget.
  const requested = request.settings.max_output_tokens ?? null;
  return { max_output_tokens: day?.max_output_tokens ?? own?.max_output_tokens ?? requested };
}

/** Returns the request with the maximum length of its answer. */
export const limitToAllowance = (request: ModelRequest, { max_output_tokens }: Allowed): ModelRequest =>
  max_output_tokens === null ? request : { ...request, settings: { ...request.settings, max_output_tokens } };
