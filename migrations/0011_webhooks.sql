-- Addresses that hear of events.
CREATE TABLE webhooks (
  project_id        TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment       TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id                TEXT    NOT NULL,
  url               TEXT    NOT NULL,
  events            TEXT    NOT NULL, -- JSON: a list of names; "*" is all.
  description       TEXT,
  enabled           INTEGER NOT NULL,
  disabled_reason   TEXT    CHECK (disabled_reason IN ('requested', 'gone', 'failing')),
  sealed            TEXT    NOT NULL, -- What it signs with, encrypted; empty once it is deleted.
  secret_prefix     TEXT    NOT NULL,
  previous_until_ms INTEGER, -- Until when the secret before this one signs too.
  failing_since_ms  INTEGER, -- The first failure since the last success.
  failure_count     INTEGER NOT NULL DEFAULT 0, -- Since the last success.
  last_delivery_at_ms INTEGER,
  metadata          TEXT    NOT NULL,
  created_at_ms     INTEGER NOT NULL,
  updated_at_ms     INTEGER NOT NULL,
  deleted_at_ms     INTEGER, -- Gone for everybody; its deliveries go in small writes, and then the row.
  PRIMARY KEY (project_id, environment, id)
) STRICT;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;

-- The outbox, and afterwards the log: what one webhook is to hear of one event. A row is written in the transaction of
-- the journal's entry that it tells of, so that a crash can neither lose it nor make it up. Its event has the same digits
-- under `evt_`. The body is written with the first attempt: until then the journal says as well what the run was.
CREATE TABLE webhook_deliveries (
  project_id        TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment       TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id                TEXT    NOT NULL,
  webhook_id        TEXT    NOT NULL,
  type              TEXT    NOT NULL,
  run_id            TEXT,
  seq               INTEGER,
  run_expires_at_ms INTEGER, -- What the run's row said of it then, which no entry does.
  body              TEXT,
  status            TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  failures          INTEGER NOT NULL DEFAULT 0, -- In a row: its place in the schedule.
  attempts          INTEGER NOT NULL DEFAULT 0,
  next_at_ms        INTEGER, -- When it is tried; NULL: no more.
  created_at_ms     INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, webhook_id) REFERENCES webhooks (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (project_id, environment, webhook_id, next_at_ms, id)
  WHERE next_at_ms IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (project_id, environment, webhook_id, id);
CREATE INDEX webhook_deliveries_by_run ON webhook_deliveries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at_ms);

CREATE TABLE webhook_attempts (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  delivery_id TEXT    NOT NULL,
  number      INTEGER NOT NULL, -- Counts from 1.
  at_ms       INTEGER NOT NULL,
  latency_ms  INTEGER NOT NULL,
  request     TEXT    NOT NULL, -- JSON: address and headers.
  response    TEXT, -- JSON: status, headers and the beginning of the body.
  error       TEXT, -- JSON: code and message.
  PRIMARY KEY (project_id, environment, delivery_id, number),
  FOREIGN KEY (project_id, environment, delivery_id)
    REFERENCES webhook_deliveries (project_id, environment, id) ON DELETE CASCADE
) STRICT;
