import type { ModelPrice } from "./price.ts";
import type { RunCreated } from "./run-event.ts";

/** A model of a run, as pinned at its start. */
export interface RunModel {
  model: string;
  /** Null if unknown; absent in runs of older versions. */
  price?: ModelPrice | null;
  context_window: number | null;
}

type Pinned = Pick<RunCreated, "model" | "price" | "context_window" | "fallbacks" | "team">;

/** The agents that answered after the run's own, in their order. */
type Handoffs = readonly { agent_id: string }[];

/** A run and the model that it asks now. */
interface Asking {
  run: Pinned;
  model: string;
}

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

/** Returns the models of the agent that answers now, in their order. */
export function activeModels(run: Pinned, handoffs: Handoffs): readonly RunModel[] {
  const agentId = handoffs.at(-1)?.agent_id;
  const [first, ...rest] = run.team?.find(({ agent_id }) => agent_id === agentId)?.models ?? [];
  return first ? [first, ...rest] : modelsOf(run);
}

/** Returns the first model of the agent that answers now. */
export const firstModel = (run: Pinned, handoffs: Handoffs): string =>
  activeModels(run, handoffs)[0]?.model ?? run.model;

/** Returns every model that the run may ask, the first of its own agent first. */
export function everyModelOf(run: Pinned): readonly RunModel[] {
  const own = modelsOf(run);
  if (!run.team) return own;
  const models = new Map([...run.team.flatMap(({ models }) => models), ...own].map((each) => [each.model, each]));
  for (const { model } of own) models.delete(model);
  return [...own, ...models.values()];
}

/** Returns the model that the run asks now. */
function currentModel({ run, model }: Asking): RunModel {
  const all = everyModelOf(run);
  return all.find((one) => one.model === model) ?? (all[0] as RunModel);
}

/** Returns the context window of the model that the run asks now, in tokens; null if unknown. */
export const currentWindow = (state: Asking): number | null => currentModel(state).context_window;
