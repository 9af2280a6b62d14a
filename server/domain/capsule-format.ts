/** `application_id` of every capsule, a SQLite file: "rncp". */
export const capsuleId = 0x726e6370;

/** Version of the tables below, in `user_version`. A server reads only this one. */
export const capsuleVersion = 1;

/** First bytes of every SQLite file. */
export const sqliteMagic = "SQLite format 3\0";

export const capsuleType = "application/vnd.sqlite3";

/** Whole schema of a capsule. A file with any other table is refused. */
export const capsuleTables = [
  `CREATE TABLE capsule (
  format_version INTEGER NOT NULL,
  made_by        TEXT    NOT NULL, -- "runnel" and its version.
  created_at     TEXT    NOT NULL,
  run_id         TEXT    NOT NULL  -- The run that it is about.
) STRICT`,
  `CREATE TABLE runs (
  position      INTEGER PRIMARY KEY, -- Depth first: a run stands behind the one whose call started it.
  run_id        TEXT    NOT NULL,
  parent_run_id TEXT,
  agent_hash    TEXT    NOT NULL,
  status        TEXT    NOT NULL
) STRICT`,
  `CREATE TABLE agents (
  hash     TEXT PRIMARY KEY,
  snapshot TEXT NOT NULL -- JSON: the agent as its runs pinned it, without addresses, code and secrets.
) STRICT`,
  `CREATE TABLE entries (
  run_id TEXT    NOT NULL,
  seq    INTEGER NOT NULL,
  at_ms  INTEGER NOT NULL,
  event  TEXT    NOT NULL, -- JSON.
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID`,
  `CREATE TABLE files (
  file_id   TEXT    PRIMARY KEY,
  run_id    TEXT    NOT NULL,
  filename  TEXT    NOT NULL,
  mime_type TEXT    NOT NULL,
  bytes     INTEGER NOT NULL,
  sha256    TEXT    NOT NULL,
  purpose   TEXT    NOT NULL,
  omitted   TEXT -- Why its content is not there; NULL when it is.
) STRICT`,
  `CREATE TABLE file_chunks (
  file_id  TEXT    NOT NULL,
  position INTEGER NOT NULL, -- Counts from 0.
  content  BLOB    NOT NULL,
  PRIMARY KEY (file_id, position)
) STRICT, WITHOUT ROWID`,
] as const;

/** Limits for importing capsules and other traces. Bytes and counts. */
export const capsuleLimits = {
  /** Size of the file. */
  bytes: 128 * 1024 * 1024,
  runs: 100,
  agents: 100,
  /** All runs together. */
  entries: 20_000,
  /** Per run. */
  steps: 5000,
  event_bytes: 16 * 1024 * 1024,
  agent_bytes: 3 * 1024 * 1024,
  /** All events and agents together. */
  record_bytes: 32 * 1024 * 1024,
  json_bytes: 20 * 1024 * 1024,
  /** Deeper than in requests, because values of a run are nested in events here. */
  json_depth: 96,
} as const;
