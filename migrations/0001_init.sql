-- The first schema. Times are integers in milliseconds since 1970 (UTC) and end in _ms; JSON is text.
-- Everything a client owns carries its project and environment, and references name both, so that a reference across
-- tenants is a constraint error and not a query somebody forgot to filter.

CREATE TABLE projects (
  id             TEXT    PRIMARY KEY,
  name           TEXT    NOT NULL UNIQUE,
  settings       TEXT    NOT NULL DEFAULT '{}', -- Limits of this project that differ from the defaults.
  created_at_ms  INTEGER NOT NULL,
  archived_at_ms INTEGER
) STRICT;

-- The secret itself is never stored: 192 random bits need no slow hash, and a lookup by hash leaks no timing.
CREATE TABLE api_keys (
  id              TEXT    PRIMARY KEY,
  project_id      TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment     TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  hash            BLOB    NOT NULL UNIQUE,
  name            TEXT    NOT NULL,
  prefix          TEXT    NOT NULL,
  last4           TEXT    NOT NULL,
  scopes          TEXT    NOT NULL,
  agent_ids       TEXT,
  allowed_cidrs   TEXT,
  metadata        TEXT    NOT NULL DEFAULT '{}',
  created_by      TEXT    NOT NULL,
  created_at_ms   INTEGER NOT NULL,
  expires_at_ms   INTEGER,
  revoked_at_ms   INTEGER,
  exposed_at_ms   INTEGER,
  last_used_at_ms INTEGER,
  last_used_ip    TEXT,
  rotated_to      TEXT,
  rotated_from    TEXT
) STRICT;
CREATE INDEX api_keys_by_scope ON api_keys (project_id, environment, id);

CREATE TABLE tools (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  type          TEXT    NOT NULL,
  definition    TEXT    NOT NULL,
  sealed        TEXT    NOT NULL, -- Header values and the signing secret, encrypted with the master key.
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, name)
) STRICT;

CREATE TABLE agents (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  model         TEXT    NOT NULL,
  version       INTEGER NOT NULL,
  definition    TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;

CREATE TABLE agent_versions (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  agent_id      TEXT    NOT NULL,
  version       INTEGER NOT NULL,
  definition    TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, agent_id, version),
  FOREIGN KEY (project_id, environment, agent_id) REFERENCES agents (project_id, environment, id) ON DELETE CASCADE
) STRICT;

-- Which tools an agent has now. Deleting a tool takes it off its agents; runs keep the snapshot that they pinned.
CREATE TABLE agent_tools (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  agent_id    TEXT    NOT NULL,
  tool_id     TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, agent_id, tool_id),
  FOREIGN KEY (project_id, environment, agent_id) REFERENCES agents (project_id, environment, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, tool_id) REFERENCES tools (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX agent_tools_by_tool ON agent_tools (project_id, environment, tool_id);

-- One row per run, kept by a projector in the transaction of the journal entries that it sums up. It exists because
-- runs are listed, counted and timed by it; what happened stands in run_events alone.
CREATE TABLE runs (
  id                  TEXT    PRIMARY KEY,
  project_id          TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment         TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  agent_id            TEXT    NOT NULL, -- No foreign key: a run outlives its agent.
  status              TEXT    NOT NULL,
  seq                 INTEGER NOT NULL, -- Of the newest journal entry.
  attempt             INTEGER NOT NULL, -- Fences what a given-up worker still sends.
  thread_id           TEXT,
  session_id          TEXT,
  user_id             TEXT,
  metadata            TEXT    NOT NULL,
  created_at_ms       INTEGER NOT NULL,
  ended_at_ms         INTEGER,
  worked_ms           INTEGER NOT NULL DEFAULT 0, -- Time in progress before status_since_ms: waiting does not count against the timeout.
  status_since_ms     INTEGER NOT NULL,
  timeout_ms          INTEGER NOT NULL,
  action_timeout_ms   INTEGER NOT NULL,
  expires_at_ms       INTEGER, -- When the run fails unless it moves on; NULL once it is over.
  summary             TEXT, -- What is left of a run whose trace was deleted: the run without messages and tool calls.
  UNIQUE (project_id, environment, id)
) STRICT;
CREATE INDEX runs_by_status ON runs (project_id, environment, status, id);
CREATE INDEX runs_by_agent ON runs (project_id, environment, agent_id, id);
CREATE INDEX runs_by_user ON runs (project_id, environment, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX runs_by_thread ON runs (project_id, environment, thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_active ON runs (status) WHERE status IN ('in_progress', 'queued');
CREATE INDEX runs_expiry ON runs (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- The journal: append only, the single truth about a run. seq counts from 1 without gaps.
CREATE TABLE run_events (
  run_id TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq    INTEGER NOT NULL,
  at_ms  INTEGER NOT NULL,
  type   TEXT    NOT NULL,
  data   TEXT    NOT NULL,
  blobs  TEXT, -- {"field": "hash"}: fields of data that are large and stand in blobs.
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

-- Large payloads, addressed by the SHA-256 of their bytes and shared within one project and environment.
CREATE TABLE blobs (
  project_id  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  hash        TEXT NOT NULL,
  content     TEXT NOT NULL,
  PRIMARY KEY (project_id, environment, hash)
) STRICT;
CREATE TABLE run_blobs (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  hash   TEXT NOT NULL,
  PRIMARY KEY (run_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_blobs_by_hash ON run_blobs (hash);

-- Tool calls that wait for somebody: what GET /v1/approvals lists.
CREATE TABLE pending_calls (
  run_id        TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  id            TEXT    NOT NULL,
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  needs         TEXT    NOT NULL CHECK (needs IN ('output', 'approval', 'reconcile')),
  call          TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pending_calls_by_scope ON pending_calls (project_id, environment, id);
CREATE VIEW approvals AS
  SELECT p.id, p.run_id, p.project_id, p.environment, p.needs, p.call, p.created_at_ms, r.expires_at_ms, r.metadata
  FROM pending_calls AS p JOIN runs AS r ON r.id = p.run_id
  WHERE r.status = 'requires_action';

-- How to reach model providers: the operator's, not a project's.
CREATE TABLE model_connections (
  name          TEXT    PRIMARY KEY,
  provider      TEXT    NOT NULL,
  base_url      TEXT,
  sealed_key    TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  id            TEXT    PRIMARY KEY,
  email         TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  password_hash TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

-- Dashboard sessions. Only the hash of the cookie is stored: a copy of the database opens no session.
CREATE TABLE sessions (
  hash            BLOB    PRIMARY KEY,
  user_id         TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at_ms   INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL
) STRICT;

-- Single facts about this database.
CREATE TABLE facts (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE setup_tokens (
  hash          BLOB    PRIMARY KEY,
  expires_at_ms INTEGER NOT NULL
) STRICT;
