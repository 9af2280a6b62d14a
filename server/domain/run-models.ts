import type { ModelPrice } from "./price.ts";
import type { RunCreated } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** A model of a run, as pinned at its start. */
export interface RunModel {
  model: string;
  /** Null if unknown; absent in runs of older versions. */
  price?: ModelPrice | null;
  context_window: number | null;
}

type Pinned = Pick<RunCreated, "model" | "price" | "context_window" | "fallbacks">;

const found = new WeakMap<Pinned, readonly RunModel[]>();

/** Returns the models of a run in their order, the first included. Each call of a model needs them several times. */
export function modelsOf(run: Pinned): readonly RunModel[] {
  const models = found.get(run) ?? inOrder(run);
  found.set(run, models);
  return models;
}

const inOrder = ({ model, price, context_window = null, fallbacks = [] }: Pinned): RunModel[] => [
  { model, context_window, ...(price !== undefined && { price }) },
  ...fallbacks,
];

/** Returns the model that the run asks now. */
function currentModel({ run, model }: Pick<RunState, "run" | "model">): RunModel {
  const all = modelsOf(run);
  return all.find((one) => one.model === model) ?? (all[0] as RunModel);
}

/** Returns the context window of the model that the run asks now, in tokens; null if unknown. */
export const currentWindow = (state: Pick<RunState, "run" | "model">): number | null =>
  currentModel(state).context_window;
