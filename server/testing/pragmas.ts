import type { Database } from "bun:sqlite";

/** Pragmas that every writing connection must have: the durability guarantees depend on them. */
export const durablePragmas = {
  synchronous: 2, // FULL: an acknowledged commit survives a power cut.
  journal_mode: "wal",
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  journal_size_limit: 64 * 1024 * 1024,
  temp_store: 2,
  busy_timeout: 5000,
  writable_schema: 0,
  ignore_check_constraints: 0,
};

/** Returns the same pragmas of an open connection, named as in SQLite. */
export const pragmasOf = (sqlite: Database): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(durablePragmas).map((name) => [name, Object.values(sqlite.query(`PRAGMA ${name}`).get() as object)[0]]),
  );
