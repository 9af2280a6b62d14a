import type { SQLQueryBindings } from "bun:sqlite";
import { controlCharacters } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page, scopeCondition } from "../../http/page.ts";
import type { Condition } from "../../http/row-filter.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import { memoryKeys } from "../../storage/db/schema.ts";
import { columnsOf } from "../../storage/db/scoped-table.ts";
import type { StoreRow } from "./row.ts";
import type { PutKey } from "./schema.ts";
import { type MemoryStores, requireKeys, scopeIdOf } from "./store.ts";

type Row = typeof memoryKeys.$inferSelect;

/** Location of a key. */
export interface KeyPlace {
  memory_id: string;
  /** Null if the store belongs to the whole project. */
  scope_id: string | null;
  key: string;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

/** Key-value pairs of agents and clients. */
export function createKeyStore({
  db,
  findStore,
  now = Date.now,
}: {
  db: Db;
  findStore: MemoryStores["find"];
  now?: () => number;
}) {
  const { sqlite } = db;
  type Columns = ScopeColumns & Pick<Row, "memory_id" | "scope_id">;
  const one = sqlite.query<Row, Columns & { key: string }>(
    `SELECT ${columnsOf(memoryKeys)} FROM memory_keys WHERE ${inScope} AND key = $key`,
  );
  const count = sqlite.query<{ n: number }, Columns>(`SELECT count(*) AS n FROM memory_keys WHERE ${inScope}`);
  const selectExpired = sqlite.query<ErasedRow, Columns & { now: number }>(
    `SELECT ${erasedColumns} FROM memory_keys WHERE ${inScope} AND expires_at_ms <= $now LIMIT 100`,
  );
  const updateItemCount = sqlite.query(
    "UPDATE memory_stores SET items = items + 1 WHERE project_id = $project_id AND environment = $environment AND id = $id",
  );
  const expired = sqlite.query<ErasedRow, { now: number; limit: number }>(
    `SELECT ${erasedColumns} FROM memory_keys WHERE expires_at_ms <= $now ORDER BY expires_at_ms LIMIT $limit`,
  );
  // CROSS fixes the join order: from the few stores of that scope, each by its key.
  const ofSubjects = sqlite.query<ErasedRow, ScopeColumns & { of: string; ids: string; limit: number }>(
    `SELECT k.project_id, k.environment, k.memory_id, k.scope_id, k.key, k.version
     FROM memory_stores s CROSS JOIN json_each($ids) o CROSS JOIN memory_keys k
       ON k.project_id = s.project_id AND k.environment = s.environment AND k.memory_id = s.id AND k.scope_id = o.value
     WHERE s.project_id = $project_id AND s.environment = $environment AND s.scope = $of
       AND s.deleted_at_ms IS NULL LIMIT $limit`,
  );
  const erase = createErasing(db);

  function open(scope: Scope, { memory_id, scope_id }: Omit<KeyPlace, "key">): { store: StoreRow; scopeId: string } {
    const store = requireKeys(findStore(scope, memory_id));
    return { store, scopeId: scopeIdOf(store, scope_id) };
  }

  const isOver = ({ expires_at_ms }: Row): boolean => expires_at_ms !== null && expires_at_ms <= now();

  function read({ project_id, environment }: Scope, place: KeyPlace): Row | null {
    const { scopeId } = open({ project_id, environment }, place);
    const { memory_id, key } = place;
    const row = one.get({ project_id, environment, memory_id, scope_id: scopeId, key });
    return row && !isOver(row) ? row : null;
  }

  /** Throws if the scope is full. Call inside a write. */
  function requireSpace(store: StoreRow, scopeId: string): void {
    const { project_id, environment, id: memory_id } = store;
    const columns = { project_id, environment, memory_id, scope_id: scopeId };
    const isFull = () => onlyRow(count.get(columns)).n >= limits.keys_per_scope;
    if (!isFull()) return;
    selectExpired.all({ ...columns, now: now() }).forEach(erase);
    if (isFull())
      throw new AppError("validation_failed", `There are ${limits.keys_per_scope} keys already, and may be no more.`);
  }

  return {
    get(scope: Scope, place: KeyPlace) {
      const row = read(scope, place) ?? throwNotFound();
      return serializeKey(row);
    },

    /** Null if the key does not exist. */
    find(scope: Scope, place: KeyPlace) {
      const row = read(scope, place);
      return row && serializeKey(row);
    },

    /**
     * Writes if the stored version equals `expected` (0: absent, null: any). A repeated call of a run is a no-op unless
     * the value was overwritten since.
     */
    async put(
      scope: Scope,
      place: KeyPlace,
      { value, ttl_seconds }: PutKey,
      expected: number | null,
      toolCallId: string | null = null,
    ) {
      const { project_id, environment } = scope;
      open(scope, place); // Checked first: an unknown store is a 404, whatever the body says.
      const text = toValidJson(place.key, value);
      return await db.write(() => {
        const { store, scopeId } = open(scope, place);
        const before = one.get({ project_id, environment, memory_id: store.id, scope_id: scopeId, key: place.key });
        const isPresent = before !== null && !isOver(before);
        if (isPresent && toolCallId !== null && before.tool_call_id === toolCallId) return serializeKey(before);
        requireVersion(isPresent ? before.version : 0, expected);
        if (!before) {
          requireSpace(store, scopeId);
          updateItemCount.run({ project_id, environment, id: store.id });
        }
        // Continues after deleted keys, so that a version number never recurs with another value.
        const version = (before?.version ?? findStore(scope, store.id).last_version) + 1;
        const [at, seconds] = [now(), ttl_seconds ?? store.ttl_seconds];
        const row: Row = {
          project_id,
          environment,
          memory_id: store.id,
          scope_id: scopeId,
          key: place.key,
          value: text,
          version,
          tool_call_id: toolCallId,
          created_at_ms: isPresent ? before.created_at_ms : at,
          updated_at_ms: at,
          expires_at_ms: seconds === null ? null : at + seconds * 1000,
        };
        db.orm.insert(memoryKeys).values(row).onConflictDoUpdate({ target: keyColumns, set: row }).run();
        return serializeKey(row);
      });
    },

    remove: (scope: Scope, place: KeyPlace, expected: number | null) =>
      db.write(() => {
        const row = read(scope, place);
        requireVersion(row?.version ?? 0, expected);
        if (!row) throw notFound();
        erase(row);
        return { ...serializeKeyPlace(row), object: "memory_key" as const, deleted: true };
      }),

    list(scope: Scope, memoryId: string, page: Page) {
      const { prefix, scope_id = null } = page.filters;
      const { scopeId } = open(scope, { memory_id: memoryId, scope_id });
      return listPage(
        db,
        {
          table: memoryKeys,
          by: "key",
          kind: null,
          scope,
          page: { ...page, filters: {} },
          within: scopeCondition(scope, { memory_id: memoryId, scope_id: scopeId }),
          where: [notExpired(now()), ...(prefix === undefined ? [] : [prefixCondition(prefix)])],
          isComplete: true,
        },
        serializeKey,
        ({ key }) => key,
      );
    },

    /** Deletes up to `limit` keys of users or sessions and returns their number. Call inside a write. */
    forgetOf(
      { project_id, environment }: Scope,
      of: "user" | "session",
      ids: readonly string[],
      limit: number,
    ): number {
      const rows = ofSubjects.all({ project_id, environment, of, ids: JSON.stringify(ids), limit });
      rows.forEach(erase);
      return rows.length;
    },

    /** Deletes up to `limit` expired keys and returns their number. Call inside a write. */
    forgetExpired(limit: number): number {
      const rows = expired.all({ now: now(), limit });
      rows.forEach(erase);
      return rows.length;
    },
  };
}

/** Columns read of deleted keys, without the values, which may total a gigabyte. */
type ErasedRow = Pick<Row, "project_id" | "environment" | "memory_id" | "scope_id" | "key" | "version">;
/** Keys of one scope in a store. */
const inScope =
  "project_id = $project_id AND environment = $environment AND memory_id = $memory_id AND scope_id = $scope_id";
const erasedColumns = "project_id, environment, memory_id, scope_id, key, version";

/** Deletes a key. The store keeps the highest deleted version. Call inside a write. */
function createErasing({ sqlite }: Db) {
  const deletion = sqlite.query(`DELETE FROM memory_keys WHERE ${inScope} AND key = $key`);
  const counting = sqlite.query(
    `UPDATE memory_stores SET items = items - 1, last_version = max(last_version, $version)
     WHERE project_id = $project_id AND environment = $environment AND id = $memory_id`,
  );
  return (row: ErasedRow): void => {
    deletion.run(row);
    counting.run(row);
  };
}

const keyColumns = [
  memoryKeys.project_id,
  memoryKeys.environment,
  memoryKeys.memory_id,
  memoryKeys.scope_id,
  memoryKeys.key,
];

const serializeKeyPlace = ({ key, memory_id, scope_id }: Row) => ({
  key,
  memory_id,
  scope_id: scope_id === "" ? null : scope_id,
});

const serializeKey = (row: Row) => ({
  object: "memory_key" as const,
  ...serializeKeyPlace(row),
  value: parseExact(row.value),
  version: row.version,
  expires_at: timestampOrNull(row.expires_at_ms),
  created_at: timestamp(row.created_at_ms),
  updated_at: timestamp(row.updated_at_ms),
});

function requireVersion(version: number, expected: number | null): void {
  if (expected === null || expected === version) return;
  const description = version === 0 ? "There is no such key" : `The key has version ${version}`;
  throw new AppError("precondition_failed", `${description}, and not version ${expected}.`, { details: { version } });
}

/** Serializes the value. Throws if the key or the value is invalid. */
function toValidJson(key: string, value: unknown): string {
  throwIfInvalid(keyFaults(key));
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.key_value_bytes)
    throw new AppError("payload_too_large", `A value has at most ${limits.key_value_bytes} bytes as JSON.`, {
      param: "value",
    });
  return text;
}

/** Faults of a key that could not be part of a URL or shown in a terminal. */
function keyFaults(key: string) {
  // "." and ".." have a meaning in URL paths.
  if (key === "" || key === "." || key === "..") return [fault("key", 'Must be something else than "", "." or "..".')];
  if (key.length > limits.key_length) return [fault("key", `Must have at most ${limits.key_length} characters.`)];
  if (/\p{Cc}/u.test(key) || !key.isWellFormed()) return [fault("key", controlCharacters)];
  return [];
}

/** Version in an If-Match header; null if absent. */
export function readIfMatch(headers: Headers): number | null {
  const text = headers.get("if-match");
  if (text === null) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid("If-Match", "Must be a version: a bare integer, 0 for a key that is not there yet.");
}

const notExpired = (at: number): Condition => ({ sql: "expires_at_ms IS NULL OR expires_at_ms > ?", values: [at] });

/** Prefix range by bytes, as the index sorts: UTF-8 text never contains the byte FF. */
function prefixCondition(prefix: string): Condition {
  const values: SQLQueryBindings[] = [prefix, prefix];
  return { sql: "key >= ? AND key < ? || CAST(x'ff' AS TEXT)", values };
}
