-- Names of an agent's versions, such as production. A label holds one version, or two by percent; runs that name the label pin
-- the version that it holds when they are created.
CREATE TABLE agent_labels (
  project_id     TEXT    NOT NULL,
  environment    TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id             TEXT    NOT NULL,
  agent_id       TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  shares         TEXT    NOT NULL, -- JSON: versions with their percents, the newer one first.
  rollback_on    TEXT,             -- JSON: when the server rolls the label back by itself. NULL: never.
  revision       INTEGER NOT NULL, -- How often it was moved, from 1.
  moved_revision INTEGER NOT NULL, -- The first revision with its present versions: runs are compared from there on.
  moved_at_ms    INTEGER NOT NULL,
  created_at_ms  INTEGER NOT NULL,
  updated_at_ms  INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, agent_id, name),
  FOREIGN KEY (project_id, environment, agent_id) REFERENCES agents (project_id, environment, id) ON DELETE CASCADE
) STRICT;

-- Where a label has been: rows are only inserted, so that a label can be rolled back.
CREATE TABLE agent_label_revisions (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  label_id      TEXT    NOT NULL,
  revision      INTEGER NOT NULL,
  shares        TEXT    NOT NULL,
  reason        TEXT    NOT NULL CHECK (reason IN ('set', 'rollback', 'automatic_rollback')),
  restores      INTEGER,          -- Of a rollback: the revision that it restored. NULL where there was none.
  actor_type    TEXT    NOT NULL,
  actor_id      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, label_id, revision),
  FOREIGN KEY (project_id, environment, label_id) REFERENCES agent_labels (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Runs that named a label, with what versions are compared by. Written with the run's own entries.
CREATE TABLE label_runs (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  run_id        TEXT    NOT NULL,
  label_id      TEXT    NOT NULL,
  revision      INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  status        TEXT,    -- How it ended; NULL while it has not.
  worked_ms     INTEGER, -- The next ones are written with the end.
  input_tokens  INTEGER,
  output_tokens INTEGER,
  cost_nano_usd INTEGER,
  PRIMARY KEY (project_id, environment, run_id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, label_id) REFERENCES agent_labels (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX label_runs_of_version ON label_runs (project_id, environment, label_id, version, run_id);

-- Requests name agents by name too.
CREATE INDEX agents_by_name ON agents (project_id, environment, name);
