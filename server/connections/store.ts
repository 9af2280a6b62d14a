import { eq } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import type { ModelPrice } from "../core/price.ts";
import type { Provider } from "../core/providers.ts";
import type { Environment } from "../core/scope.ts";
import type { Actor, StoreBase } from "../db/audit.ts";
import { modelConnections } from "../db/schema.ts";
import type { Seal } from "../lib/seal.ts";
import { freePrice, knownModels } from "../models/known-models.ts";
import { listensAt, ollamaUrl } from "../models/ollama.ts";
import type { Connection } from "../models/port.ts";
import {
  connectionFor,
  connectionsFromEnvironment,
  isAvailable,
  type ModelName,
  modelPrefix,
  parseModel,
} from "../models/registry.ts";
import { testModelNames } from "../models/test-models.ts";
import type { PriceStore } from "./prices.ts";

/** A connection as operators see it: its key is never shown again. */
interface ConnectionInfo {
  name: string;
  provider: Provider;
  base_url: string | null;
  /** How many calls its server takes at once; null: as many as come. */
  max_concurrent: number | null;
  /** How long its server may send nothing while it answers; null: five minutes. */
  idle_timeout_ms: number | null;
  source: "environment" | "stored";
  created_at_ms: number | null;
}

/** A model as `GET /v1/models` lists it; what is not known is null. */
interface ModelInfo {
  id: string;
  object: "model";
  provider: Provider;
  available: boolean;
  context_window: number | null;
  /** USD per million tokens, as of when, and whose word that is. */
  prices: ModelPrice;
}

type Stored = Connection & { sealed_key: string | null };

export type ConnectionStore = ReturnType<typeof createConnectionStore>;

/**
 * How to reach model providers: from the environment, and stored with the key encrypted. A stored one goes before one
 * of the environment. The command line may change them while the server runs.
 */
export function createConnectionStore({
  db,
  audit,
  seal,
  environment,
  ollama = ollamaUrl,
  now = Date.now,
}: StoreBase & {
  seal: Seal;
  environment: Record<string, string | undefined>;
  /** Where Ollama is looked for when nobody has said where it is. */
  ollama?: string;
}) {
  const fromEnvironment = connectionsFromEnvironment(environment, ollama);
  const assumesOllama = !environment.OLLAMA_BASE_URL?.trim();
  const select = db.orm.select().from(modelConnections).orderBy(modelConnections.name).prepare();
  // Keys stay sealed here: one that cannot be opened may not stand in the way of the other connections.
  const all = db.kept.rows((): readonly Stored[] => [
    ...select.all().map(({ max_concurrent, idle_timeout_ms, ...row }) => ({
      ...row,
      api_key: null,
      ...limitsOf({ max_concurrent, idle_timeout_ms }),
    })),
    ...fromEnvironment.map((connection) => ({ ...connection, sealed_key: null })),
  ]).of;
  const open = ({ name, provider, base_url, api_key, sealed_key, ...limits }: Stored): Connection => ({
    name,
    provider,
    base_url,
    api_key: sealed_key === null ? api_key : seal.open(sealed_key, aad(name)),
    ...limitsOf(limits),
  });

  function find(name: ModelName, environment: Environment): Stored | null {
    if (name.provider === "test" && environment === "live") return null;
    const found = connectionFor(name, all());
    return found && { sealed_key: null, ...found }; // The test models' connection has no such field.
  }

  const isStored = (provider: Provider): boolean => select.all().some((row) => row.provider === provider);

  /** Whether one of these is a model of an Ollama that nobody has spoken of, and that is not there. */
  const ollamaIsMissing = async (models: readonly string[]): Promise<boolean> =>
    assumesOllama &&
    models.some((model) => parseModel(model)?.provider === "ollama") &&
    !isStored("ollama") &&
    !(await listensAt(ollama));

  return {
    isAvailable(model: string, environment: Environment): boolean {
      const name = parseModel(model);
      return name !== null && find(name, environment) !== null;
    },

    /** Where a model is reached, or `model_not_available`. Live runs take no built-in test model. */
    resolve(model: string, environment: Environment): { connection: Connection; model: string } {
      const name = parseModel(model);
      const found = name && find(name, environment);
      if (name && found) return { connection: open(found), model: name.model };
      throw new AppError("model_not_available", unavailable(model, name?.provider, environment), { param: "model" });
    },

    /**
     * Throws `model_not_available` for a model of Ollama where nobody has said that there is one, and nobody listens: where
     * a request names the model. A run that has begun waits for a server that is away.
     */
    async requireThere(model: string, param = "model"): Promise<void> {
      if (await ollamaIsMissing([model]))
        throw new AppError(
          "model_not_available",
          `There is no Ollama at ${new URL(ollama).host}. Start it, or set OLLAMA_BASE_URL.`,
          { param },
        );
    },

    /** How many calls the server behind a connection takes at once; null: as many as come. */
    maxConcurrent(prefix: string): number | null {
      return all().find((connection) => modelPrefix(connection) === prefix)?.max_concurrent ?? null;
    },

    /** Models whose price is known, and whether a run could use them now. */
    async models(environment: Environment, prices: PriceStore): Promise<ModelInfo[]> {
      const connections = all();
      const named = [...knownModels.map(({ provider, model }) => `${provider}/${model}`), ...givenNames(prices)];
      const missing = await ollamaIsMissing(named);
      const known = [...new Set(named)].map((id) => {
        const { provider } = parseModel(id)!;
        const context_window = prices.windowOf(id);
        const available = isAvailable(id, connections) && !(missing && provider === "ollama");
        return { id, object: "model" as const, provider, available, context_window, prices: prices.priceOf(id)! };
      });
      if (environment === "live") return known;
      const builtIn = testModelNames.map((name) => ({
        id: `test/${name}`,
        object: "model" as const,
        provider: "test" as const,
        available: true,
        context_window: prices.windowOf(`test/${name}`),
        prices: freePrice,
      }));
      return [...known, ...builtIn];
    },

    list(): ConnectionInfo[] {
      const kept = select.all().map(({ sealed_key, ...row }) => ({ ...row, source: "stored" as const }));
      const given = fromEnvironment.map(({ name, provider, base_url, ...limits }) => ({
        name,
        provider,
        base_url,
        max_concurrent: limits.max_concurrent ?? null,
        idle_timeout_ms: limits.idle_timeout_ms ?? null,
        source: "environment" as const,
        created_at_ms: null,
      }));
      return [...kept, ...given];
    },

    /** Adds a connection, or replaces the one of this name. */
    async put({ name, provider, base_url, api_key, ...given }: Connection, actor: Actor): Promise<void> {
      const sealed_key = api_key === null ? null : seal.seal(api_key, aad(name));
      const { max_concurrent = null, idle_timeout_ms = null } = given;
      const row = { name, provider, base_url, sealed_key, max_concurrent, idle_timeout_ms };
      const { name: target } = modelConnections;
      const upsert = db.orm
        .insert(modelConnections)
        .values({ ...row, created_at_ms: now() })
        .onConflictDoUpdate({ target, set: row });
      await db.write(() => {
        upsert.run();
        const details = { provider, has_key: api_key !== null, ...limitsOf(row) };
        audit.note({ actor }, "model_connection.saved", name, details);
      });
    },

    /** False when there was none of this name. */
    async remove(name: string, actor: Actor): Promise<boolean> {
      const named = eq(modelConnections.name, name);
      return db.write(() => {
        const [removed] = db.orm.delete(modelConnections).where(named).returning().all();
        if (removed) audit.note({ actor }, "model_connection.removed", name, { provider: removed.provider });
        return removed !== undefined;
      });
    },
  };
}

/** Models that the operator named; not what stands for many. */
const givenNames = (prices: PriceStore): string[] =>
  prices.all().flatMap(({ model }) => (model.endsWith("/*") || model.startsWith("test/") ? [] : [model]));

type Limits = Pick<Connection, "max_concurrent" | "idle_timeout_ms">;

/** Those that were set. */
const limitsOf = ({ max_concurrent, idle_timeout_ms }: { [Name in keyof Limits]?: number | null }): Limits => ({
  ...(max_concurrent != null && { max_concurrent }),
  ...(idle_timeout_ms != null && { idle_timeout_ms }),
});

const aad = (name: string): string => `model_connection:${name}`;

function unavailable(model: string, provider: Provider | undefined, environment: Environment): string {
  if (provider === "test" && environment === "live") return `${model} is a test model: use it with a test key.`;
  if (!provider) return `"${model}" names no provider. Models look like openai/gpt-4.1 or test/echo.`;
  return `${model} is not available: there is no such model, or no connection to its provider.`;
}
