import type { Environment, Scope } from "../domain/scope.ts";
import { requireValue } from "../lib/require-value.ts";
import type { Db } from "../storage/db/open.ts";
import type { idempotencyKeys } from "../storage/db/schema.ts";

/** A run in a stored answer: the event where its stream began, or its state then. */
export interface RunAnswer {
  id: string;
  /** Null until the answer is known: while the first request waits for the run, and after a crash in between. */
  seq: number | null;
  expires_at_ms: number | null;
}

/** Any other stored answer. */
export interface SealedAnswer {
  status: number;
  location: string | null;
  sealed: string;
  /** Restrictions of the API key, as JSON. */
  agent_ids: string | null;
}

/** An idempotency key and the request it belongs to. */
export interface KeyedRequest {
  scope: Scope;
  key: string;
  hash: string;
}

type Row = Omit<typeof idempotencyKeys.$inferSelect, keyof Scope | "key" | "created_at_ms">;

/** Stored state of a key. */
export interface StoredKey {
  hash: string;
  run: RunAnswer | null;
  other: SealedAnswer | null;
}

const kept_ms = 24 * 3_600_000;

/** Stores the keys of the last 24 hours with the answers to their requests. */
export function createIdempotencyStore({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  const select = sqlite.query<Row, [string, Environment, string, number]>(
    `SELECT hash, run_id, seq, expires_at_ms, status, location, sealed, agent_ids FROM idempotency_keys
     WHERE project_id = ? AND environment = ? AND key = ? AND created_at_ms > ?`,
  );
  // Replaces an expired row.
  const insertRun = sqlite.query(
    `INSERT OR REPLACE INTO idempotency_keys
       (project_id, environment, key, hash, created_at_ms, run_id, seq, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertOther = sqlite.query(
    `INSERT OR REPLACE INTO idempotency_keys
       (project_id, environment, key, hash, created_at_ms, status, location, sealed, agent_ids)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const deleteOld = sqlite.query(
    `DELETE FROM idempotency_keys WHERE rowid IN
       (SELECT rowid FROM idempotency_keys WHERE created_at_ms <= ? ORDER BY created_at_ms LIMIT ?)`,
  );
  const oldest = () => now() - kept_ms;

  return {
    find({ project_id, environment }: Scope, key: string): StoredKey | null {
      const row = select.get(project_id, environment, key, oldest());
      return row && { hash: row.hash, run: runOf(row), other: otherOf(row) };
    },
    /** Call inside a write, so that a run and its key are committed together. */
    keepRun({ scope, key, hash }: KeyedRequest, { id, seq, expires_at_ms }: RunAnswer): void {
      insertRun.run(scope.project_id, scope.environment, key, hash, now(), id, seq, expires_at_ms);
    },
    /** Call inside a write. */
    keepOther({ scope, key, hash }: KeyedRequest, { status, location, sealed, agent_ids }: SealedAnswer): void {
      insertOther.run(scope.project_id, scope.environment, key, hash, now(), status, location, sealed, agent_ids);
    },
    /** Call inside a write. Deletes up to `limit` expired keys and returns their number. */
    forgetExpired: (limit: number): number => deleteOld.run(oldest(), limit).changes,
  };
}

const runOf = ({ run_id, seq, expires_at_ms }: Row): RunAnswer | null =>
  run_id === null ? null : { id: run_id, seq, expires_at_ms };

const otherOf = ({ status, location, sealed, agent_ids }: Row): SealedAnswer | null =>
  sealed === null
    ? null
    : { status: requireValue(status, "The status of a stored response"), location, sealed, agent_ids };
