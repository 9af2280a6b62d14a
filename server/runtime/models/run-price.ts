import type { ModelPrice } from "../../domain/price.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import { everyModelOf } from "../../domain/run-models.ts";
import type { RunState } from "../../domain/run-state.ts";
import { builtInPrice } from "./known-models.ts";

/**
 * Returns the price of a model as the run pinned it. Models that it did not pin, and those of runs created before
 * prices were pinned, have the built-in one.
 */
export function priceIn(
  run: Pick<RunCreated, "price" | "model" | "fallbacks" | "team">,
  model: string,
): ModelPrice | null {
  const { price } = everyModelOf(run).find((one) => one.model === model) ?? {};
  return price === undefined ? builtInPrice(model) : price;
}

/** Returns the price of the model that the run asks now. */
export const runPrice = ({ run, model }: Pick<RunState, "run" | "model">): ModelPrice | null => priceIn(run, model);
