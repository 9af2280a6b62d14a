import { eq } from "drizzle-orm";
import { type CloudSecrets, cloudPlaceFields, cloudSecretFields, pickFields } from "../../domain/cloud-connection.ts";
import { AppError } from "../../domain/errors.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type { Provider } from "../../domain/providers.ts";
import type { Environment } from "../../domain/scope.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Seal } from "../../lib/seal.ts";
import { freePrice, knownModels } from "../../runtime/models/known-models.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { listensAt, ollamaUrl } from "../../runtime/models/ollama.ts";
import {
  connectionFor,
  connectionsFromEnvironment,
  isAvailable,
  type ModelName,
  modelPrefix,
  parseModel,
} from "../../runtime/models/registry.ts";
import { testModelNames } from "../../runtime/models/test-models.ts";
import type { Actor, StoreBase } from "../../storage/db/audit.ts";
import { modelConnections } from "../../storage/db/schema.ts";
import type { PriceStore } from "./prices.ts";

/** A connection as operators see it, without its key. */
interface ConnectionInfo {
  name: string;
  provider: Provider;
  base_url: string | null;
  /** Most concurrent calls to its server; null: unlimited. */
  max_concurrent: number | null;
  /** Longest silence in ms while its server responds; null: five minutes. */
  idle_timeout_ms: number | null;
  /** Place of a cloud's models: AWS's region, or Google's project and location. */
  region: string | null;
  project: string | null;
  location: string | null;
  source: "environment" | "stored";
  created_at_ms: number | null;
}

/** A model as `GET /v1/models` lists it; unknown values are null. */
interface ModelInfo {
  id: string;
  object: "model";
  provider: Provider;
  available: boolean;
  context_window: number | null;
  /** USD per million tokens, with the date and source. */
  prices: ModelPrice;
}

type Stored = Connection & { sealed_key: string | null; sealed_secrets: string | null };

export type ConnectionStore = ReturnType<typeof createConnectionStore>;

/**
 * Connections to model providers, from the environment and from the database, with encrypted keys. Stored ones take
 * precedence. The command line may change them while the server runs.
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
  /** Default address of Ollama. */
  ollama?: string;
}) {
  const fromEnvironment = connectionsFromEnvironment(environment, ollama);
  const assumesOllama = !environment.OLLAMA_BASE_URL?.trim();
  const select = db.orm.select().from(modelConnections).orderBy(modelConnections.name).prepare();
  // Keys are decrypted on use, so that one that cannot be decrypted does not affect other connections.
  const all = db.kept.rows((): readonly Stored[] => [
    ...select.all().map(({ max_concurrent, idle_timeout_ms, region, project, location, ...row }) => ({
      ...row,
      api_key: null,
      ...limitsOf({ max_concurrent, idle_timeout_ms }),
      ...pickFields({ region, project, location }, cloudPlaceFields),
    })),
    ...fromEnvironment.map((connection) => ({ ...connection, sealed_key: null, sealed_secrets: null })),
  ]).of;
  const open = ({ name, provider, base_url, api_key, sealed_key, sealed_secrets, ...more }: Stored): Connection => ({
    name,
    provider,
    base_url,
    api_key: sealed_key === null ? api_key : seal.open(sealed_key, aad(name)),
    ...limitsOf(more),
    ...pickFields(more, cloudPlaceFields),
    ...(sealed_secrets === null
      ? pickFields(more, cloudSecretFields)
      : (JSON.parse(seal.open(sealed_secrets, secretsAad(name))) as CloudSecrets)),
  });

  function find(name: ModelName, environment: Environment): Stored | null {
    if (name.provider === "test" && environment === "live") return null;
    const found = connectionFor(name, all());
    return found && { sealed_key: null, sealed_secrets: null, ...found }; // The test models' connection lacks these fields.
  }

  const isStored = (provider: Provider): boolean => select.all().some((row) => row.provider === provider);

  /** True if one of these models is of an unconfigured Ollama that is not running. */
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

    /**
     * Resolves a model to its connection. Throws `model_not_available`. Live runs cannot use the built-in test model.
     */
    resolve(model: string, environment: Environment): { connection: Connection; model: string } {
      const name = parseModel(model);
      const found = name && find(name, environment);
      if (name && found) return { connection: open(found), model: name.model };
      throw new AppError("model_not_available", unavailable(model, name?.provider, environment), { param: "model" });
    },

    /**
     * Throws `model_not_available` for a model of an unconfigured Ollama that is not running. For requests that name a
     * model only: a started run waits for its server.
     */
    async requireModelAvailable(model: string, param = "model"): Promise<void> {
      if (await ollamaIsMissing([model]))
        throw new AppError(
          "model_not_available",
          `There is no Ollama at ${new URL(ollama).host}. Start it, or set OLLAMA_BASE_URL.`,
          { param },
        );
    },

    /** Most concurrent calls to a connection's server; null: unlimited. */
    maxConcurrent(prefix: string): number | null {
      return all().find((connection) => modelPrefix(connection) === prefix)?.max_concurrent ?? null;
    },

    /** Models with a known price, and whether a run can use them now. */
    async models(environment: Environment, prices: PriceStore): Promise<ModelInfo[]> {
      const connections = all();
      const named = [...knownModels.map(({ provider, model }) => `${provider}/${model}`), ...givenNames(prices)];
      const missing = await ollamaIsMissing(named);
      const known = [...new Set(named)].map((id) => {
        const { provider } = requireValue(parseModel(id), id);
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
      const storedConnections = select
        .all()
        .map(({ sealed_key, sealed_secrets, ...row }) => ({ ...row, source: "stored" as const }));
      const environmentConnections = fromEnvironment.map(({ name, provider, base_url, ...more }) => ({
        name,
        provider,
        base_url,
        max_concurrent: more.max_concurrent ?? null,
        idle_timeout_ms: more.idle_timeout_ms ?? null,
        region: more.region ?? null,
        project: more.project ?? null,
        location: more.location ?? null,
        source: "environment" as const,
        created_at_ms: null,
      }));
      return [...storedConnections, ...environmentConnections];
    },

    /** Adds or replaces a connection. */
    async put({ name, provider, base_url, api_key, ...given }: Connection, actor: Actor): Promise<void> {
      const sealed_key = api_key === null ? null : seal.seal(api_key, aad(name));
      const secrets = pickFields(given, cloudSecretFields);
      const hasSecrets = Object.keys(secrets).length > 0;
      const sealed_secrets = hasSecrets ? seal.seal(JSON.stringify(secrets), secretsAad(name)) : null;
      const { max_concurrent = null, idle_timeout_ms = null, region = null, project = null, location = null } = given;
      const limits = { max_concurrent, idle_timeout_ms };
      const row = { name, provider, base_url, sealed_key, ...limits, region, project, location, sealed_secrets };
      const { name: target } = modelConnections;
      const upsert = db.orm
        .insert(modelConnections)
        .values({ ...row, created_at_ms: now() })
        .onConflictDoUpdate({ target, set: row });
      await db.write(() => {
        upsert.run();
        const details = { provider, has_key: api_key !== null || hasSecrets, ...limitsOf(row) };
        audit.note({ actor }, "model_connection.saved", name, details);
      });
    },

    /** False if there is no such connection. */
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

/** Models that the operator priced, without wildcards. */
const givenNames = (prices: PriceStore): string[] =>
  prices.all().flatMap(({ model }) => (model.endsWith("/*") || model.startsWith("test/") ? [] : [model]));

type Limits = Pick<Connection, "max_concurrent" | "idle_timeout_ms">;

/** The limits that are set. */
const limitsOf = ({ max_concurrent, idle_timeout_ms }: { [Name in keyof Limits]?: number | null }): Limits => ({
  ...(max_concurrent != null && { max_concurrent }),
  ...(idle_timeout_ms != null && { idle_timeout_ms }),
});

const aad = (name: string): string => `model_connection:${name}`;
const secretsAad = (name: string): string => `model_connection_secrets:${name}`;

function unavailable(model: string, provider: Provider | undefined, environment: Environment): string {
  if (provider === "test" && environment === "live") return `${model} is a test model: use it with a test key.`;
  if (!provider) return `"${model}" names no provider. Models look like openai/gpt-4.1 or test/echo.`;
  if (provider === "bedrock") return `${model} is not available: Amazon Bedrock needs a region and a key.`;
  if (provider === "vertex") return `${model} is not available: Google Vertex AI needs a key or a service account.`;
  return `${model} is not available: there is no such model, or no connection to its provider.`;
}
