import type { Environment, Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { idempotencyKeys } from "../db/schema.ts";

/** A run as an answer showed it: where its stream began, or how it stood. */
export interface RunAnswer {
  id: string;
  /** Null while whoever asked waits for the run to rest, and for ever if the process died meanwhile. */
  seq: number | null;
  expires_at_ms: number | null;
}

/** Any other answer. */
export interface SealedAnswer {
  status: number;
  location: string | null;
  sealed: string;
  /** What the API key was bound to, as JSON. */
  agent_ids: string | null;
}

/** Whose key it is, and of which request. */
export interface Name {
  scope: Scope;
  key: string;
  hash: string;
}

type Row = Omit<typeof idempotencyKeys.$inferSelect, keyof Scope | "key" | "created_at_ms">;

/** What is known of a key. */
export interface Known {
  hash: string;
  run: RunAnswer | null;
  other: SealedAnswer | null;
}

const kept_ms = 24 * 3_600_000;

/** The keys of the last 24 hours and what came of their requests. */
export function createIdempotencyStore({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  const select = sqlite.query<Row, [string, Environment, string, number]>(
    `SELECT hash, run_id, seq, expires_at_ms, status, location, sealed, agent_ids FROM idempotency_keys
     WHERE project_id = ? AND environment = ? AND key = ? AND created_at_ms > ?`,
  );
  // Replaces a row that is too old to count.
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
    find({ project_id, environment }: Scope, key: string): Known | null {
      const row = select.get(project_id, environment, key, oldest());
      return row && { hash: row.hash, run: runOf(row), other: otherOf(row) };
    },
    /** Within a write, so that a run and the key that started it are there together or not at all. */
    keepRun({ scope, key, hash }: Name, { id, seq, expires_at_ms }: RunAnswer): void {
      insertRun.run(scope.project_id, scope.environment, key, hash, now(), id, seq, expires_at_ms);
    },
    /** Within a write. */
    keepOther({ scope, key, hash }: Name, { status, location, sealed, agent_ids }: SealedAnswer): void {
      insertOther.run(scope.project_id, scope.environment, key, hash, now(), status, location, sealed, agent_ids);
    },
    /** Within a write: deletes up to so many keys that are older than 24 hours. Returns how many those were. */
    forgetExpired: (limit: number): number => deleteOld.run(oldest(), limit).changes,
  };
}

const runOf = ({ run_id, seq, expires_at_ms }: Row): RunAnswer | null =>
  run_id === null ? null : { id: run_id, seq, expires_at_ms };

const otherOf = ({ status, location, sealed, agent_ids }: Row): SealedAnswer | null =>
  sealed === null ? null : { status: status!, location, sealed, agent_ids };
