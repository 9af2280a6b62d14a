import type { Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import { modelPrefix, parseModel } from "../../runtime/models/registry.ts";
import { createModelPlaces, type ModelPlaces } from "./model-places.ts";
import { createPriceStore } from "./prices.ts";
import { modelRoutes } from "./routes.ts";
import { createConnectionStore } from "./store.ts";

export interface ConnectionOptions {
  /** Default address of Ollama. */
  ollama?: string;
}

export type ConnectionsModule = ReturnType<typeof createConnectionsModule>;

/** Model connections and prices. */
export function createConnectionsModule({ base, options }: { base: Base; options: ConnectionOptions }) {
  const connections = createConnectionStore({ ...base, ollama: options.ollama });
  const prices = createPriceStore({ ...base, addressOf: connections.addressOf });
  const places = createModelPlaces({ countOf: connections.maxConcurrent });
  return {
    routes: (auth) => [modelRoutes({ auth, connections, prices })],
    store: connections,
    prices,
    places,
    inPlace: createInSlot(places),
  } satisfies Module;
}

/** Makes model calls, by the model's full name, in the connection's places. */
const createInSlot =
  ({ during }: ModelPlaces) =>
  <T>(owner: Scope, model: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    const parsed = parseModel(model);
    return parsed
      ? during(owner, modelPrefix({ provider: parsed.provider, name: parsed.connection }), signal, call)
      : call();
  };
