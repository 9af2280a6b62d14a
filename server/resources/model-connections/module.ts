import type { Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import type { listModels } from "../../runtime/models/model-list.ts";
import { modelPrefix, parseModel } from "../../runtime/models/registry.ts";
import { createCircuitBreakers } from "./circuit-breakers.ts";
import { createConnections } from "./create-connections.ts";
import { createModelCatalog } from "./model-catalog.ts";
import { createModelPlaces, type ModelPlaces } from "./model-places.ts";
import { createOutageNotes } from "./outage-notes.ts";
import { createPriceStore } from "./prices.ts";
import { createRefusalStore } from "./refusal-store.ts";
import { modelRoutes } from "./routes.ts";

export interface ConnectionOptions {
  /** Default address of Ollama. */
  ollama?: string;
  /** Reads the models of a connection's server. */
  listModels?: typeof listModels;
  /**
   * True if the connections are copies of those of another cell, which refreshes their tokens; false if other cells have
   * copies of these. Absent: there is one cell.
   */
  connectionsAreCopies?: boolean;
}

/** How often tokens that end soon, and revocations that are due, are looked for. */
const turn_ms = 30_000;

export type ConnectionsModule = ReturnType<typeof createConnectionsModule>;

/** Model connections and prices. */
export function createConnectionsModule({ base, options }: { base: Base; options: ConnectionOptions }) {
  const { now, closing: signal } = base;
  const {
    store: connections,
    consents,
    revocations,
  } = createConnections({
    ...base,
    egress: base.egress("live"),
    now,
    signal,
    ollama: options.ollama,
    mayRefresh: !options.connectionsAreCopies,
  });
  const catalog = createModelCatalog({ db: base.db, now: base.now, connections, list: options.listModels });
  const prices = createPriceStore({ ...base, listed: catalog.listed, addressOf: connections.addressOf });
  const breakers = createCircuitBreakers({
    now: base.now,
    identityOf: (model) => connections.identityOf(prefixOf(model)),
    onChange: (model, outage) => notes.changed(model, outage),
  });
  const refusals = createRefusalStore({ ...base, connections });
  const notes = createOutageNotes({ ...base, outages: breakers.outages });
  let timer: Timer | undefined;
  const places = createModelPlaces({ countOf: connections.maxConcurrent });
  return {
    routes: (auth) => [modelRoutes({ auth, catalog, prices })],
    store: connections,
    consents,
    deleteExpired: [consents.forgetExpired],
    prices,
    catalog,
    places,
    breakers,
    refusals,
    /** Number of models with an open circuit breaker, by the prefix of their connection. */
    openCircuits(): ReadonlyMap<string, number> {
      const counts = new Map<string, number>();
      for (const { model } of breakers.outages()) {
        const prefix = prefixOf(model);
        counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
      }
      return counts;
    },
    start() {
      revocations.wake();
      clearInterval(timer);
      timer = setInterval(() => {
        revocations.wake();
        if (options.connectionsAreCopies === false) consents.refreshAhead();
      }, turn_ms).unref();
      return notes.clear();
    },
    inPlace: createInSlot(places),
    async stop() {
      clearInterval(timer);
      breakers.stop();
      await Promise.all([catalog.stop(), consents.stop(), revocations.stop()]);
    },
  } satisfies Module;
}

function prefixOf(model: string): string {
  const parsed = parseModel(model);
  return parsed ? modelPrefix({ provider: parsed.provider, name: parsed.connection }) : "other";
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
