import type { ModelPrice } from "../core/price.ts";
import type { RunCreated } from "../core/run-event.ts";
import { builtInPrice } from "./known-models.ts";

/** What a run's model costs it: the price that it began with. Runs of before prices were pinned have the built-in one. */
export const runPrice = ({ price, model }: Pick<RunCreated, "price" | "model">): ModelPrice | null =>
  price === undefined ? builtInPrice(model) : price;
