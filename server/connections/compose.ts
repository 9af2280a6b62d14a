import type { Scope } from "../core/scope.ts";
import type { Base, Part } from "../http/part.ts";
import { modelPrefix, parseModel } from "../models/registry.ts";
import { createModelPlaces, type ModelPlaces } from "./model-places.ts";
import { createPriceStore } from "./prices.ts";
import { modelRoutes } from "./routes.ts";
import { createConnectionStore } from "./store.ts";

export interface ConnectionOptions {
  /** Where Ollama is looked for when nobody says where it is. */
  ollama?: string;
}

/** How models are reached, and what they cost. */
export function composeConnections(base: Base & ConnectionOptions) {
  const connections = createConnectionStore(base);
  const prices = createPriceStore(base);
  const places = createModelPlaces({ countOf: connections.maxConcurrent });
  return {
    routes: (auth) => [modelRoutes({ auth, connections, prices })],
    ports: { connections, prices, places, inPlace: inPlaceBy(places) },
  } satisfies Part;
}

/** Makes calls of models by their full names in these places. */
const inPlaceBy =
  ({ during }: ModelPlaces) =>
  <T>(owner: Scope, model: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    const parsed = parseModel(model);
    return parsed
      ? during(owner, modelPrefix({ provider: parsed.provider, name: parsed.connection }), signal, call)
      : call();
  };
