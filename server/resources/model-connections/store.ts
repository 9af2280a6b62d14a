import { eq, inArray } from "drizzle-orm";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { Tried } from "../../domain/api-types/console.ts";
import {
  type CloudSecrets,
  cloudPlaceFields,
  cloudSecretFields,
  hasCredentials,
  pickFields,
} from "../../domain/cloud-connection.ts";
import type { ConnectionAuth } from "../../domain/connection-auth.ts";
import { AppError } from "../../domain/errors.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { keyVariables, type Provider } from "../../domain/providers.ts";
import type { Environment } from "../../domain/scope.ts";
import { invalid } from "../../http/errors.ts";
import { identityFields, losesGrants } from "../../http/oauth-client-faults.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Seal } from "../../lib/seal.ts";
import type { RunStart } from "../../runtime/agent-loop/messages.ts";
import { tokenFetch } from "../../runtime/models/connection-token.ts";
import { freePrice, offeredModels, partsOf } from "../../runtime/models/known-models.ts";
import type { Connection } from "../../runtime/models/model.ts";
import type { Fetch } from "../../runtime/models/model-fetch.ts";
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
import {
  learntRefusals,
  listedModels,
  modelConnections,
  modelConnectionTests,
  modelLists,
} from "../../storage/db/schema.ts";
import { type ConnectionChange, checkConnection, trimmed } from "./check-connection.ts";
import { type ConnectionGrants, createConnectionGrants } from "./connection-grants.ts";
import { type ConnectionTokens, clientIn } from "./connection-tokens.ts";
import type { PriceStore } from "./prices.ts";

/** A connection as operators see it, without its key. */
interface ConnectionInfo {
  name: string;
  provider: Provider;
  base_url: string | null;
  has_key: boolean;
  /** Most concurrent calls to its server; null: unlimited. */
  max_concurrent: number | null;
  /** Longest silence in ms while its server responds; null: five minutes. */
  idle_timeout_ms: number | null;
  /** Models or connections that are asked if its models cannot answer. */
  fallbacks: string[];
  /** Place of a cloud's models: AWS's region, or Google's project and location. */
  region: string | null;
  project: string | null;
  location: string | null;
  /** How it gets access tokens; null: it has a key, or none. */
  auth: ConnectionAuth | null;
  /** State of the operator's consent; null if it needs none. */
  consent: ReturnType<ConnectionGrants["stateOf"]> | null;
  source: "environment" | "stored";
  created_at_ms: number | null;
  /** Number of the change, from 1; null for one of the environment. */
  version: number | null;
  updated_at_ms: number | null;
}

/** A connection in use. */
export interface UsedConnection {
  name: string;
  provider: Provider;
  /** Prefix of its models' names. */
  prefix: string;
  /** State of the connection: another address or key has another identity. */
  identity: string;
  /** True for an Ollama that was not configured: it may not be there. */
  isAssumed: boolean;
  /** Decrypts the key. Throws if it cannot be decrypted. */
  open(): Connection;
}

/** A model as `GET /v1/models` lists it; unknown values are null. */
interface ModelInfo {
  id: string;
  object: "model";
  provider: Provider;
  available: boolean;
  context_window: number | null;
  /** USD per million tokens, with the date and source. */
  prices: ModelPrice & { reference?: string };
}

type Stored = Connection & { sealed_key: string | null; sealed_secrets: string | null; identity: string };

type Row = typeof modelConnections.$inferSelect;
/** `client_secret` is of a connection of the environment. */
type OpenedClient = Pick<Row, "name" | "sealed_secrets"> & { auth: ConnectionAuth; client_secret?: string };

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
  tokens = noTokens,
  grants = createConnectionGrants({ db, seal, now }),
  onRevoked = () => {},
}: StoreBase & {
  /** Tokens to which operators consented. */
  grants?: ConnectionGrants;
  /** Called after tokens were erased that are to be revoked. */
  onRevoked?: () => void;
  /** Tokens of connections with OAuth; absent: they get none. */
  tokens?: ConnectionTokens;
  seal: Seal;
  environment: Record<string, string | undefined>;
  /** Default address of Ollama. */
  ollama?: string;
}) {
  const fromEnvironment = connectionsFromEnvironment(environment, ollama).map((connection) => ({
    ...connection,
    identity: environmentIdentity(connection, seal),
  }));
  const assumesOllama = !environment.OLLAMA_BASE_URL?.trim();
  const select = db.orm.select().from(modelConnections).orderBy(modelConnections.name).prepare();
  // Keys are decrypted on use, so that one that cannot be decrypted does not affect other connections.
  const all = db.kept.rows((): readonly Stored[] => [
    ...select.all().map(({ max_concurrent, idle_timeout_ms, fallbacks, region, project, location, auth, ...row }) => ({
      name: row.name,
      provider: row.provider,
      base_url: row.base_url,
      api_key: null,
      sealed_key: row.sealed_key,
      sealed_secrets: row.sealed_secrets,
      identity: `stored ${row.created_at_ms} ${row.version}`,
      ...limitsOf({ max_concurrent, idle_timeout_ms, fallbacks }),
      ...pickFields({ region, project, location }, cloudPlaceFields),
      ...(auth && { auth }),
    })),
    ...fromEnvironment.map((connection) => ({
      ...connection,
      sealed_key: null,
      sealed_secrets: null,
    })),
  ]).of;
  const sealSecrets = (name: string, secrets: CloudSecrets): string =>
    seal.seal(JSON.stringify(secrets), secretsAad(name));
  const openSecrets = (name: string, sealed: string): CloudSecrets => JSON.parse(seal.open(sealed, secretsAad(name)));
  function openClient({ name, auth, sealed_secrets, ...given }: OpenedClient) {
    const { client_secret = null } = sealed_secrets === null ? given : openSecrets(name, sealed_secrets);
    return clientIn(auth, client_secret);
  }

  /** Returns the client of a row whose operator consents; null if there is none. */
  function consentingClient(row: Pick<Row, "name" | "auth" | "sealed_secrets"> | null | undefined) {
    return row?.auth?.grant === "authorization_code" ? openClient({ ...row, auth: row.auth }) : null;
  }

  /** Erases the tokens of a row that were issued for something else than the next row's. Call it inside a write. */
  function eraseTokens(before: Row, next: Pick<Row, "name" | "auth" | "sealed_secrets"> | null): void {
    const [client, nextClient] = [consentingClient(before), consentingClient(next)];
    if (client && !(nextClient && !losesGrants(client, nextClient, true))) grants.erase(before.name, client);
  }

  /** Adds the source of a connection's tokens; its client's secret stays on the main thread. */
  function openAuth({
    name,
    auth,
    identity,
    sealed_secrets,
    client_secret,
  }: Stored): Pick<Connection, "auth" | "token_source"> {
    if (!auth) return {};
    const token_source = `${name} ${identity}`;
    tokens.add(token_source, name, openClient({ name, auth, sealed_secrets, client_secret }));
    return { auth, token_source };
  }
  const openKeyed = ({
    name,
    provider,
    base_url,
    api_key,
    sealed_key,
    sealed_secrets,
    ...more
  }: Stored): Connection => ({
    name,
    provider,
    base_url,
    api_key: sealed_key === null ? api_key : seal.open(sealed_key, aad(name)),
    ...limitsOf(more),
    ...pickFields(more, cloudPlaceFields),
    ...(sealed_secrets === null ? pickFields(more, cloudSecretFields) : openSecrets(name, sealed_secrets)),
  });

  function open(stored: Stored): Connection {
    const { client_secret: _, ...connection } = openKeyed(stored);
    return { ...connection, ...openAuth(stored) };
  }

  const fetchOf = ({ token_source }: Connection): { fetch?: Fetch } =>
    token_source === undefined ? {} : { fetch: tokenFetch((rejected) => tokens.get(token_source, rejected)) };

  function find(name: ModelName, environment: Environment): Stored | null {
    if (name.provider === "test" && environment === "live") return null;
    const found = connectionFor(name, all());
    // The test models' connection lacks these fields.
    return found && { sealed_key: null, sealed_secrets: null, identity: "", ...found };
  }

  /** Deletes what was learnt of connections that changed: list, test and refusals. Call it inside a write. */
  function forgetState(provider: Provider, name: string): void {
    const prefix = modelPrefix({ provider, name });
    for (const table of [modelLists, listedModels, modelConnectionTests, learntRefusals])
      db.orm.delete(table).where(eq(table.prefix, prefix)).run();
  }

  const rowOf = (name: string): Row | null =>
    db.orm.select().from(modelConnections).where(eq(modelConnections.name, name)).get() ?? null;

  const isStored = (provider: Provider): boolean => select.all().some((row) => row.provider === provider);

  /** True if one of these models is of an unconfigured Ollama that is not running. */
  const ollamaIsMissing = async (models: readonly string[]): Promise<boolean> =>
    assumesOllama &&
    models.some((model) => parseModel(model)?.provider === "ollama") &&
    !isStored("ollama") &&
    !(await listensAt(ollama));

  function isUsable(model: string, environment: Environment): boolean {
    const name = parseModel(model);
    return name !== null && find(name, environment) !== null;
  }

  function resolve(model: string, environment: Environment): { connection: Connection; model: string } {
    const name = parseModel(model);
    const found = name && find(name, environment);
    if (name && found) return { connection: open(found), model: name.model };
    throw new AppError("model_not_available", unavailable(model, name?.provider, environment), { param: "model" });
  }

  return {
    isAvailable: isUsable,

    /**
     * Resolves a model to its connection. Throws `model_not_available`. Live runs cannot use the built-in test model.
     */
    resolve,

    /** Like `resolve`, for calls on this thread: `fetch` carries the token of a connection that has no key. */
    resolveHere(model: string, environment: Environment): { connection: Connection; model: string; fetch?: Fetch } {
      const resolved = resolve(model, environment);
      return { ...resolved, ...fetchOf(resolved.connection) };
    },

    /** Returns the fetch for requests to a connection on this thread; none: the usual one. */
    fetchOf,

    /** Returns the token of an opened connection. `rejected` is one that its server refused. */
    tokenOf: tokens.get,

    /** Returns the client of a stored connection whose operator consents; null if there is none. */
    clientOf: (name: string) => consentingClient(select.all().find((row) => row.name === name)),

    /**
     * Resolves the models of a run to their connections; those without one are left out. Throws `model_not_available`
     * if no model has one.
     */
    resolveAll(
      models: readonly string[],
      environment: Environment,
    ): Pick<RunStart, "connection" | "model" | "candidates"> {
      const [first = ""] = models;
      if (models.length < 2) return resolve(first, environment);
      const candidates = models.flatMap((id) => {
        try {
          return [{ id, ...resolve(id, environment) }];
        } catch {
          return []; // Its connection was removed, or its key cannot be decrypted: the run asks another model.
        }
      });
      const { connection, model } = candidates[0] ?? resolve(first, environment);
      return { connection, model, candidates };
    },

    /** Returns the further models of an agent: its own, or those of its connection that are available. */
    fallbacksOf({ model, models }: Pick<AgentSnapshot, "model" | "models">, environment: Environment): string[] {
      if (models) return models.slice(1);
      const name = parseModel(model);
      const { fallbacks = [] } = (name && find(name, environment)) ?? {};
      const named = fallbacks.map((each) => (parseModel(each) ? each : `${each}/${name?.model}`));
      return [...new Set(named)].filter((each) => each !== model && isUsable(each, environment));
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

    /** Base URL of a connection to an OpenAI-compatible server, by its name; null if there is none. */
    addressOf: (name: string): string | null =>
      all().find((connection) => connection.provider === "openai_compatible" && connection.name === name)?.base_url ??
      null,

    /** Most concurrent calls to a connection's server; null: unlimited. */
    maxConcurrent(prefix: string): number | null {
      return all().find((connection) => modelPrefix(connection) === prefix)?.max_concurrent ?? null;
    },

    /** Connections in use: a stored one overrides that of the environment with the same name. */
    used(): UsedConnection[] {
      const byPrefix = new Map<string, UsedConnection>();
      for (const each of all()) {
        const { name, provider, identity } = each;
        const prefix = modelPrefix(each);
        const isAssumed = provider === "ollama" && assumesOllama && identity.startsWith("environment");
        if (!byPrefix.has(prefix))
          byPrefix.set(prefix, { name, provider, prefix, identity, isAssumed, open: () => open(each) });
      }
      return [...byPrefix.values()];
    },

    /** State of the connection behind a prefix; null if there is none. */
    identityOf: (prefix: string): string | null => all().find((each) => modelPrefix(each) === prefix)?.identity ?? null,

    /** Models with a known price, and whether a run can use them now: those of connected and of well-known providers. */
    async models(environment: Environment, prices: PriceStore): Promise<ModelInfo[]> {
      const connections = all();
      const connected = new Set<string>(connections.map(({ provider }) => provider));
      const isShown = (provider: string) => connected.has(provider) || wellKnown.has(provider);
      const listed = prices.lines().filter(({ id }) => isShown(partsOf(id)[0]) && parseModel(id) !== null);
      // An operator's table has only what it wants to have.
      const offered = prices.table().source === "table" ? listed : offeredModels(listed);
      const named = [...offered.map(({ id }) => id), ...givenNames(prices)];
      const missing = await ollamaIsMissing(named);
      const known = [...new Set(named)].map((id) => {
        const { provider } = requireValue(parseModel(id), id);
        const context_window = prices.windowOf(id);
        const available = isAvailable(id, connections) && !(missing && provider === "ollama");
        const reference = prices.referenceOf(id);
        const price = { ...requireValue(prices.priceOf(id), id), ...(reference !== null && { reference }) };
        return { id, object: "model" as const, provider, available, context_window, prices: price };
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
      const storedConnections = select.all().map(({ sealed_key, sealed_secrets, fallbacks, auth, ...row }) => ({
        ...row,
        auth: auth ?? null,
        consent: auth?.grant === "authorization_code" ? grants.stateOf(row.name) : null,
        fallbacks: fallbacks ?? [],
        has_key: sealed_key !== null || sealed_secrets !== null,
        source: "stored" as const,
      }));
      const environmentConnections = fromEnvironment.map((connection) => ({
        name: connection.name,
        provider: connection.provider,
        base_url: connection.base_url,
        has_key: hasCredentials(connection),
        max_concurrent: connection.max_concurrent ?? null,
        idle_timeout_ms: connection.idle_timeout_ms ?? null,
        fallbacks: connection.fallbacks ?? [],
        region: connection.region ?? null,
        project: connection.project ?? null,
        location: connection.location ?? null,
        auth: connection.auth ?? null,
        consent: null,
        source: "environment" as const,
        created_at_ms: null,
        version: null,
        updated_at_ms: null,
      }));
      return [...storedConnections, ...environmentConnections];
    },

    /** Adds or replaces a connection. */
    async put({ name, provider, base_url, api_key, ...given }: Connection, actor: Actor): Promise<void> {
      const sealed_key = api_key === null ? null : seal.seal(api_key, aad(name));
      const secrets = pickFields(given, cloudSecretFields);
      const sealed_secrets = Object.keys(secrets).length > 0 ? sealSecrets(name, secrets) : null;
      const { max_concurrent = null, idle_timeout_ms = null, fallbacks = [] } = given;
      const { region = null, project = null, location = null, auth = null } = given;
      const limits = { max_concurrent, idle_timeout_ms, fallbacks: fallbacks.length > 0 ? fallbacks : null };
      const row = { name, provider, base_url, sealed_key, ...limits, region, project, location, sealed_secrets, auth };
      const { name: target } = modelConnections;
      await db.write(() => {
        const before = rowOf(name);
        if (before && before.provider !== provider) throw takenName(before);
        const version = (before?.version ?? 0) + 1;
        const updated_at_ms = before ? now() : null;
        db.orm
          .insert(modelConnections)
          .values({ ...row, version, created_at_ms: now() })
          .onConflictDoUpdate({ target, set: { ...row, version, updated_at_ms } })
          .run();
        if (before) eraseTokens(before, row);
        if (before) forgetState(before.provider, name);
        forgetState(provider, name);
        const details = { provider, has_key: sealed_key !== null || sealed_secrets !== null, ...limitsOf(row) };
        audit.note({ actor }, "model_connection.saved", name, details);
      });
      onRevoked();
    },

    /**
     * Changes a stored connection. Running calls end with the old address and key. Throws `resource_not_found`,
     * `version_conflict` and `validation_failed`.
     */
    async update(name: string, change: ConnectionChange, actor: Actor): Promise<void> {
      await db.write(() => {
        const row = rowOf(name) ?? throwNoStored(name);
        const { expected_version } = change;
        if (expected_version !== undefined && expected_version !== row.version)
          throw new AppError("version_conflict", `The connection is at version ${row.version}.`, {
            param: "expected_version",
            details: { version: row.version },
          });
        const { changed, next } = changedRow(row, change, {
          seal: (key) => seal.seal(key, aad(name)),
          sealSecrets: (secrets) => sealSecrets(name, secrets),
          openSecrets: (sealed) => openSecrets(name, sealed),
        });
        if (changed.length === 0) return;
        const version = row.version + 1;
        eraseTokens(row, { ...row, ...next });
        db.orm
          .update(modelConnections)
          .set({ ...next, version, updated_at_ms: now() })
          .where(eq(modelConnections.name, name))
          .run();
        forgetState(row.provider, name);
        audit.note({ actor }, "model_connection.updated", name, { provider: row.provider, changed, version });
      });
      onRevoked();
    },

    /** Stores the result of a connection's test, with its audit entry. */
    async noteTest({ name, prefix, identity }: Omit<UsedConnection, "open">, result: Tried, actor: Actor) {
      const values = { prefix, identity, result, tested_at_ms: now() };
      await db.write(() => {
        db.orm
          .insert(modelConnectionTests)
          .values(values)
          .onConflictDoUpdate({ target: modelConnectionTests.prefix, set: values })
          .run();
        // A test costs a little, so record it.
        const details = { ok: result.ok, ...(result.model && { model: result.model }) };
        audit.note({ actor }, "model_connection.tested", name, details);
      });
    },

    /** Last tests of connections that have not changed since, by their prefixes. */
    lastTests(): Map<string, { result: Tried; tested_at_ms: number }> {
      const identities = new Map(
        all()
          .toReversed()
          .map((each) => [modelPrefix(each), each.identity]),
      );
      const rows = db.orm
        .select()
        .from(modelConnectionTests)
        .where(inArray(modelConnectionTests.prefix, [...identities.keys()]))
        .all();
      return new Map(rows.flatMap((row) => (identities.get(row.prefix) === row.identity ? [[row.prefix, row]] : [])));
    },

    /** False if there is no such connection. */
    async remove(name: string, actor: Actor): Promise<boolean> {
      const named = eq(modelConnections.name, name);
      const isRemoved = await db.write(() => {
        const [removed] = db.orm.delete(modelConnections).where(named).returning().all();
        if (removed) eraseTokens(removed, null);
        if (removed) forgetState(removed.provider, name);
        if (removed) audit.note({ actor }, "model_connection.removed", name, { provider: removed.provider });
        return removed !== undefined;
      });
      onRevoked();
      return isRemoved;
    },
  };
}

/** Providers whose models are shown without a connection. */
const wellKnown = new Set<string>(keyVariables.map(([provider]) => provider));

/** Models that the operator priced, without wildcards. */
const givenNames = (prices: PriceStore): string[] =>
  prices.all().flatMap(({ model }) => (model.endsWith("/*") || model.startsWith("test/") ? [] : [model]));

/** A connection of another provider is never replaced, because agents use its models. */
const takenName = (taken: Pick<Connection, "name" | "provider">): AppError =>
  new AppError(
    "validation_failed",
    `The name ${taken.name} is that of the connection for ${modelPrefix(taken)}/…: remove it first, or keep its provider (${taken.provider}).`,
    { param: "name" },
  );

type Limits = Pick<Connection, "max_concurrent" | "idle_timeout_ms" | "fallbacks">;

/** The limits that are set. */
const limitsOf = ({
  max_concurrent,
  idle_timeout_ms,
  fallbacks,
}: { [Name in keyof Limits]: Limits[Name] | null }): Limits => ({
  ...(max_concurrent != null && { max_concurrent }),
  ...(idle_timeout_ms != null && { idle_timeout_ms }),
  ...(fallbacks != null && fallbacks.length > 0 && { fallbacks }),
});

interface RowSeal {
  seal(key: string): string;
  sealSecrets(secrets: CloudSecrets): string;
  openSecrets(sealed: string): CloudSecrets;
}

/** Returns a row's changed columns and their names as fields of the API. Throws `validation_failed`. */
function changedRow(row: Row, change: ConnectionChange, { seal, sealSecrets, openSecrets }: RowSeal) {
  const key = change.api_key?.trim();
  const given = pickFields(trimmed(change), cloudSecretFields);
  const removesAuth = change.auth === null || Boolean(key);
  const auth = removesAuth ? null : change.auth;
  const stored = auth === undefined ? row.auth : auth;
  // A connection to a cloud has one kind of credentials: the one that is given replaces the other.
  const removesKey = change.api_key === null || (!key && (Object.keys(given).length > 0 || auth != null));
  const secrets = changedSecrets(row, change, openSecrets);
  const checked = checkConnection({
    name: row.name,
    provider: row.provider,
    base_url: change.base_url === undefined ? row.base_url : change.base_url,
    // A key that stays need not be decrypted to be checked.
    api_key: key || (removesKey || row.sealed_key === null ? null : "kept"),
    max_concurrent: change.max_concurrent === undefined ? row.max_concurrent : change.max_concurrent,
    idle_timeout_ms: change.idle_timeout_ms === undefined ? row.idle_timeout_ms : change.idle_timeout_ms,
    fallbacks: change.fallbacks === undefined ? row.fallbacks : change.fallbacks,
    region: change.region === undefined ? row.region : change.region,
    project: change.project === undefined ? row.project : change.project,
    location: change.location === undefined ? row.location : change.location,
    ...secrets.next,
    auth: stored,
  });
  if ("message" in checked) throw invalid(checked.param, checked.message);
  const { base_url, max_concurrent = null, idle_timeout_ms = null, fallbacks = [] } = checked;
  const { region = null, project = null, location = null } = checked;
  const next = {
    base_url,
    max_concurrent,
    idle_timeout_ms,
    fallbacks: fallbacks.length > 0 ? fallbacks : null,
    region,
    project,
    location,
    sealed_key: key ? seal(key) : removesKey ? null : row.sealed_key,
    auth: checked.auth ?? null,
  };
  const columns = [
    "base_url",
    "max_concurrent",
    "idle_timeout_ms",
    "fallbacks",
    ...cloudPlaceFields,
    "auth",
    "sealed_key",
  ] as const;
  const changed: string[] = columns
    .filter((column) => !Bun.deepEquals(next[column], row[column]))
    .map((column) => (column === "sealed_key" ? "api_key" : column));
  if (secrets.changed.length === 0) return { changed, next };
  const sealed_secrets = Object.keys(secrets.next).length > 0 ? sealSecrets(secrets.next) : null;
  return { changed: [...changed, ...secrets.changed], next: { ...next, sealed_secrets } };
}

/**
 * Returns a row's secrets after a change, and the names of those that changed. An empty one stays. A new access key
 * ends the secret and the session of the one before, and a new API key ends all of them.
 */
function changedSecrets(row: Row, change: ConnectionChange, open: RowSeal["openSecrets"]) {
  const { client_secret: _, ...clouds } = pickFields(trimmed(change), cloudSecretFields);
  const given: CloudSecrets = {
    ...clouds,
    ...(change.auth?.client_secret && { client_secret: change.auth.client_secret }),
  };
  // The author of a secret meant it for the former server, and may be another person.
  const hasSecret = row.auth !== null && row.sealed_secrets !== null;
  if (hasSecret && isElsewhere(row.auth, change.auth) && given.client_secret === undefined)
    throw invalid("auth.client_secret", "The client is of another server now: send its secret again.", "required");
  const isReplaced =
    Boolean(change.api_key?.trim()) ||
    (change.auth === null && row.auth !== null) ||
    Boolean(given.access_key_id ?? given.service_account ?? given.client_secret);
  // Secrets that are replaced need not be decrypted: their key may be lost.
  const before = row.sealed_secrets === null || isReplaced ? {} : open(row.sealed_secrets);
  const next: CloudSecrets = { ...before, ...given };
  for (const name of cloudSecretFields) if (change[name] === null) delete next[name];
  const changed: string[] = cloudSecretFields.filter((name) => next[name] !== before[name]);
  const isRemoved = isReplaced && row.sealed_secrets !== null && changed.length === 0;
  return { next, changed: isRemoved ? ["api_key"] : changed };
}

/** True if a change leads the stored secret to another authorization server, or makes another client of it. */
const isElsewhere = (before: ConnectionAuth | null, next: ConnectionChange["auth"]): boolean =>
  before !== null && next != null && identityFields.some((name) => (next[name]?.trim() || null) !== before[name]);

const noTokens: ConnectionTokens = {
  add() {},
  get: () => Promise.resolve({ status: "failed", message: "There are no tokens here.", retryable: false }),
};

/** Returns the state of a connection of the environment. It is stored, so it shows neither the address nor the key. */
const environmentIdentity = ({ base_url, api_key, ...more }: Connection, { mac }: Pick<Seal, "mac">): string =>
  `environment ${mac(JSON.stringify([base_url, api_key, pickFields(more, cloudPlaceFields), pickFields(more, cloudSecretFields), ...(more.auth ? [more.auth] : [])]))}`;

function throwNoStored(name: string): never {
  const message = `There is no stored connection "${name}". One of the environment is changed there.`;
  throw new AppError("resource_not_found", message, { param: "name" });
}

const aad = (name: string): string => `model_connection:${name}`;
const secretsAad = (name: string): string => `model_connection_secrets:${name}`;

function unavailable(model: string, provider: Provider | undefined, environment: Environment): string {
  if (provider === "test" && environment === "live") return `${model} is a test model: use it with a test key.`;
  if (!provider) return `"${model}" names no provider. Models look like openai/gpt-4.1 or test/echo.`;
  if (provider === "bedrock") return `${model} is not available: Amazon Bedrock needs a region and a key.`;
  if (provider === "vertex") return `${model} is not available: Google Vertex AI needs a key or a service account.`;
  return `${model} is not available: there is no such model, or no connection to its provider.`;
}
