import { allowance, beyond, saidOf, worstCase } from "../core/budget.ts";
import type { ModelRequest } from "../core/model-call.ts";
import type { ModelPrice } from "../core/price.ts";
import { runError } from "../core/run-error.ts";
import type { RunError, RunUsage } from "../core/run-event.ts";
import { runPrice } from "../models/run-price.ts";
import type { Turn } from "./turn.ts";

/** What a model call has to keep to. */
interface Allowed {
  /** What the request says of the length of its answer; null: nothing. */
  max_output_tokens: number | null;
}

/**
 * Whether the run's budget and that of the day have room for a model call, and how long its answer may get. To be asked
 * before every attempt. What it takes of the day stays reserved until the journal holds what the call cost; `used` has what
 * the journal does not hold yet. `price` is that of the model that is asked.
 */
export async function allowCall(
  { state, start, ports }: Turn,
  request: ModelRequest,
  used: RunUsage = state().usage,
  price: ModelPrice | null = runPrice(state().run!),
): Promise<Allowed | RunError> {
  const { run, usage } = state();
  const { max_total_tokens, max_cost_usd } = run!.budget ?? {};
  const isBounded = max_total_tokens !== undefined || max_cost_usd !== undefined;
  // Without a budget nobody counts the prompt: it may be long.
  const own = isBounded ? allowance(run!.budget!, used, price, request, start.unknown_price) : null;
  if (own && "exceeded" in own) return runError("budget_exceeded", saidOf(own), state());
  const day = await ports.reserve(() => ({
    ...(own?.worst ?? worstCase(request, price)),
    ...(used !== usage && { unrecorded: beyond(used, usage) }),
  }));
  if (day && !day.granted) return runError("budget_exceeded", day.message, state(), true); // Tomorrow it may be.
  const said = request.settings.max_output_tokens ?? null;
  return { max_output_tokens: day?.max_output_tokens ?? own?.max_output_tokens ?? said };
}

/** The request as it may be sent. */
export const withinAllowance = (request: ModelRequest, { max_output_tokens }: Allowed): ModelRequest =>
  max_output_tokens === null ? request : { ...request, settings: { ...request.settings, max_output_tokens } };
