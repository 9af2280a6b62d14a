import { and, eq, sql } from "drizzle-orm";
import { findModels } from "../../domain/find-models.ts";
import type { ListError, ListedModel, ModelKind } from "../../domain/listed-model.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type { Provider } from "../../domain/providers.ts";
import type { Environment } from "../../domain/scope.ts";
import { settlesWithin } from "../../lib/with-timeout.ts";
import { listModels } from "../../runtime/models/model-list.ts";
import { modelPrefix, parseModel } from "../../runtime/models/registry.ts";
import type { Db } from "../../storage/db/open.ts";
import { listedModels, modelLists } from "../../storage/db/schema.ts";
import type { ListedEntry, PriceStore } from "./prices.ts";
import type { ConnectionStore, UsedConnection } from "./store.ts";

/** A model as `GET /v1/models` lists it; unknown values are null. */
export interface CatalogModel {
  id: string;
  object: "model";
  provider: Provider;
  /** Prefix of the connection that serves it. */
  connection: string;
  name: string | null;
  kind: ModelKind;
  available: boolean;
  /** Null if the server's list is unknown. */
  listed: boolean | null;
  deprecated: boolean;
  features: ListedModel["features"];
  context_window: number | null;
  max_output_tokens: number | null;
  prices: ModelPrice | null;
}

/** State of a connection's list of models. */
export interface ModelListState {
  name: string;
  prefix: string;
  /** Number of models in the list that was read last; null if none was. */
  count: number | null;
  read_at_ms: number | null;
  is_reading: boolean;
  /** Why the last attempt failed; the list before it stays. */
  error: ListError | null;
}

interface CatalogOptions {
  db: Db;
  connections: ConnectionStore;
  now?: () => number;
  /** Longest wait of a request for a list that was never read. */
  wait_ms?: number;
  list?: typeof listModels;
}

/** Which models a list has. */
export interface CatalogFilter {
  q?: string | undefined;
  connection?: string | undefined;
  kind?: ModelKind | undefined;
  available?: boolean | undefined;
}

export type ModelCatalog = ReturnType<typeof createModelCatalog>;

const fresh_ms = 5 * 60_000;
const retry_ms = 30_000;
// Two refreshes within this time are one, so that no button can flood a provider.
const refreshPause_ms = 2_000;

interface Attempt {
  identity: string;
  at_ms: number;
  error: ListError | null;
  /** True if an Ollama that was not configured is not there, which is no error. */
  isMissing: boolean;
  /** True if it is the first one of this connection. */
  isFirst: boolean;
  reading: Promise<void> | null;
}

/**
 * The models that the connections' servers list. A list is read when it is asked for, kept for five minutes, and stored,
 * so that windows and prices are known after a restart. A failure keeps the list before it.
 */
export function createModelCatalog({
  db,
  connections,
  now = Date.now,
  wait_ms = 1500,
  list = listModels,
}: CatalogOptions) {
  const attempts = new Map<string, Attempt>();
  const closing = new AbortController();

  // Prepared, because every new run asks for its model's price and window.
  const selectList = db.orm
    .select()
    .from(modelLists)
    .where(eq(modelLists.prefix, sql.placeholder("prefix")))
    .prepare();
  const readAt = db.kept.rows((prefix: string, identity: string): number | null => {
    const row = selectList.get({ prefix });
    return row?.identity === identity ? row.read_at_ms : null;
  }).of;
  const selectCount = db.sqlite.query<{ count: number }, [string]>(
    "SELECT count(*) AS count FROM listed_models WHERE prefix = ?",
  );
  const rowsOf = (prefix: string): ListedModel[] =>
    db.orm
      .select()
      .from(listedModels)
      .where(eq(listedModels.prefix, prefix))
      .all()
      .map(({ details }) => details);
  const selectOne = db.orm
    .select({ details: listedModels.details })
    .from(listedModels)
    .where(and(eq(listedModels.prefix, sql.placeholder("prefix")), eq(listedModels.model, sql.placeholder("model"))))
    .prepare();
  const rowOf = db.kept.rows(
    (prefix: string, model: string): ListedModel | null => selectOne.get({ prefix, model })?.details ?? null,
  ).of;

  /** Stores a list. Only a changed one is written, because a write ends every cache of rows. */
  async function store({ prefix, identity }: UsedConnection, models: ListedModel[]): Promise<void> {
    const before = new Map(rowsOf(prefix).map((model) => [model.id, JSON.stringify(model)]));
    const isSame =
      before.size === models.length && models.every((each) => before.get(each.id) === JSON.stringify(each));
    await db.write(() => {
      const row = { prefix, identity, read_at_ms: now() };
      db.orm.insert(modelLists).values(row).onConflictDoUpdate({ target: modelLists.prefix, set: row }).run();
      if (isSame) return;
      db.orm.delete(listedModels).where(eq(listedModels.prefix, prefix)).run();
      for (const details of models) db.orm.insert(listedModels).values({ prefix, model: details.id, details }).run();
    });
  }

  async function readOnce(used: UsedConnection, attempt: Attempt): Promise<void> {
    try {
      const connection = used.open();
      const outcome = await list(connection, { signal: closing.signal, ...connections.fetchOf(connection) });
      if (closing.signal.aborted) return;
      attempt.isMissing = used.isAssumed && outcome.error?.code === "unreachable";
      attempt.error = attempt.isMissing ? null : outcome.error;
      // The connection may have changed in the meantime.
      if (outcome.models && connections.identityOf(used.prefix) === used.identity) await store(used, outcome.models);
    } catch {
      attempt.error = { code: "refused", message: "The list could not be read or stored here.", detail: null };
    }
  }

  /** Reads a list if it is due, or in any case. One read at a time. */
  function read(used: UsedConnection, isForced: boolean): Attempt {
    const known = attempts.get(used.prefix);
    const isSame = known?.identity === used.identity;
    if (known && isSame && known.reading) return known;
    const pause = isForced ? refreshPause_ms : known?.error || known?.isMissing ? retry_ms : fresh_ms;
    const last = isSame && known ? known.at_ms : isForced ? null : readAt(used.prefix, used.identity);
    const attempt: Attempt = {
      identity: used.identity,
      at_ms: last ?? now(),
      error: null,
      isMissing: false,
      isFirst: !isSame,
      reading: null,
    };
    if (last !== null && now() - last < pause) return isSame && known ? known : attempt;
    attempts.set(used.prefix, attempt);
    attempt.reading = readOnce(used, attempt).finally(() => {
      attempt.reading = null;
      attempt.at_ms = now();
    });
    return attempt;
  }

  function stateOf({ name, prefix, identity }: UsedConnection, attempt: Attempt | undefined): ModelListState {
    const read_at_ms = readAt(prefix, identity);
    const own = attempt?.identity === identity ? attempt : undefined;
    return {
      name,
      prefix,
      count: read_at_ms === null ? null : (selectCount.get(prefix)?.count ?? 0),
      read_at_ms,
      is_reading: own?.reading != null,
      error: own?.error ?? null,
    };
  }

  /** Reads the lists that are due, and waits a moment for those that were never read. */
  async function readDue(): Promise<UsedConnection[]> {
    const used = connections.used();
    const waits = used.flatMap((each) => {
      const { reading, isFirst } = read(each, false);
      return reading && isFirst && readAt(each.prefix, each.identity) === null ? [reading] : [];
    });
    if (waits.length > 0) await settlesWithin(wait_ms, Promise.all(waits));
    return used;
  }

  /** Returns the row of a model in its server's list, by its full name; null if it is unknown. */
  function listed(fullName: string): ListedEntry | null {
    const parsed = parseModel(fullName);
    if (!parsed || parsed.provider === "test") return null;
    const prefix = modelPrefix({ provider: parsed.provider, name: parsed.connection });
    const identity = connections.identityOf(prefix);
    const read_at_ms = identity === null ? null : readAt(prefix, identity);
    const details = read_at_ms === null ? null : rowOf(prefix, parsed.model);
    return details && read_at_ms !== null ? { ...details, read_at_ms } : null;
  }

  return {
    listed,

    /** Reads the lists that are due, without waiting. */
    touch(): void {
      for (const each of connections.used()) read(each, false);
    },

    /** State of each connection's list, without waiting. */
    states: (): ModelListState[] => connections.used().map((each) => stateOf(each, attempts.get(each.prefix))),

    /** Reads a connection's list now. Returns null if there is no such connection. */
    async refresh(name: string): Promise<ModelListState | null> {
      const used = connections.used().find((each) => each.name === name || each.prefix === name);
      if (!used) return null;
      const attempt = read(used, true);
      await attempt.reading;
      return closing.signal.aborted ? null : stateOf(used, attempt);
    },

    /**
     * Models that a run may name: those of connections first, as their servers list them, then the known ones of other
     * providers.
     */
    async models(environment: Environment, prices: PriceStore, filter: CatalogFilter = {}): Promise<CatalogModel[]> {
      const [used, known] = await Promise.all([readDue(), connections.models(environment, prices)]);
      const ofServers = used.flatMap(({ prefix, provider, identity }) =>
        readAt(prefix, identity) === null
          ? []
          : rowsOf(prefix).map((row) =>
              ofList(row, { prefix, provider, available: attempts.get(prefix)?.isMissing !== true }, prices),
            ),
      );
      const names = new Set(ofServers.map(({ id }) => id));
      const withList = new Set(
        used.flatMap(({ prefix, identity }) => (readAt(prefix, identity) === null ? [] : [prefix])),
      );
      const others = known.flatMap((model): CatalogModel[] => {
        if (names.has(model.id)) return [];
        const parsed = parseModel(model.id);
        const prefix = parsed ? modelPrefix({ provider: parsed.provider, name: parsed.connection }) : model.provider;
        return [
          {
            id: model.id,
            object: "model",
            provider: model.provider,
            connection: prefix,
            name: null,
            kind: "chat",
            available: model.available,
            listed: withList.has(prefix) ? false : null,
            deprecated: false,
            features: null,
            context_window: model.context_window,
            max_output_tokens: model.prices.max_output_tokens ?? null,
            prices: model.prices,
          },
        ];
      });
      const order = new Map(used.map(({ prefix }, index) => [prefix, index]));
      const placeOf = ({ available, connection, deprecated, listed, provider }: CatalogModel): number[] => [
        Number(!available),
        provider === "test" ? order.size : (order.get(connection) ?? order.size + 1),
        Number(deprecated),
        Number(listed === false),
      ];
      const all = [...ofServers, ...others].map((model) => ({ model, place: placeOf(model) }));
      all.sort((a, b) => comparePlaces(a.place, b.place));
      return narrow(
        all.map(({ model }) => model),
        filter,
      );
    },

    /** Ends the reads that are under way. */
    async stop(): Promise<void> {
      closing.abort();
      await Promise.all(Array.from(attempts.values(), ({ reading }) => reading));
    },
  };
}

function ofList(
  row: ListedModel,
  { prefix, provider, available }: { prefix: string; provider: Provider; available: boolean },
  prices: PriceStore,
): CatalogModel {
  const id = `${prefix}/${row.id}`;
  const price = prices.priceOf(id);
  return {
    id,
    object: "model",
    provider,
    connection: prefix,
    name: row.name,
    kind: row.kind,
    available,
    listed: true,
    deprecated: row.is_deprecated,
    features: row.features,
    context_window: prices.windowOf(id),
    max_output_tokens: row.max_output_tokens ?? price?.max_output_tokens ?? null,
    prices: price,
  };
}

function narrow(models: CatalogModel[], { q, connection, kind = "chat", available }: CatalogFilter): CatalogModel[] {
  const found = models.filter(
    (model) =>
      model.kind === kind &&
      (connection === undefined || model.connection === connection) &&
      (available === undefined || model.available === available),
  );
  return q === undefined ? found : findModels(found, q);
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  for (const [index, place] of a.entries()) if (place !== b[index]) return place - (b[index] ?? 0);
  return 0;
}
