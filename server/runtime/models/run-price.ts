import type { ModelPrice } from "../../domain/price.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import { builtInPrice } from "./known-models.ts";

/** Returns the price that a run began with. Runs created before prices were pinned use the built-in one. */
export const runPrice = ({ price, model }: Pick<RunCreated, "price" | "model">): ModelPrice | null =>
  price === undefined ? builtInPrice(model) : price;
