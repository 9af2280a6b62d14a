-- Addresses at which signed events from outside start runs.
CREATE TABLE triggers (
  project_id            TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment           TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id                    TEXT    NOT NULL,
  name                  TEXT    NOT NULL,
  agent_id              TEXT    NOT NULL, -- No foreign key: if the agent is deleted, events fail and say so.
  verification          TEXT    NOT NULL CHECK (verification IN ('github', 'stripe', 'slack', 'standard_webhooks', 'shared_secret')),
  secret_header         TEXT, -- NULL: the Authorization header. Only for shared secrets.
  sealed                TEXT    NOT NULL, -- The secrets, encrypted.
  has_secret            INTEGER NOT NULL, -- 0 until the sender's secret is set.
  previous_until_ms     INTEGER, -- Until then the former secret is valid, too.
  definition            TEXT    NOT NULL, -- JSON: how an event becomes a run.
  enabled               INTEGER NOT NULL,
  rate_limit_per_minute INTEGER NOT NULL,
  last_run_id           TEXT,
  last_event_at_ms      INTEGER, -- Of the newest event whose signature was right.
  metadata              TEXT    NOT NULL,
  created_at_ms         INTEGER NOT NULL,
  updated_at_ms         INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;
-- The public address has only the id.
CREATE UNIQUE INDEX triggers_by_id ON triggers (id);

-- Events that made a run, so that none makes two. A row is written in the transaction of its run.
CREATE TABLE trigger_events (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  trigger_id    TEXT    NOT NULL,
  key           TEXT    NOT NULL, -- SHA-256 of the event's id, or of what was signed.
  run_id        TEXT    NOT NULL, -- No foreign key: an event stays known when its run is deleted.
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, trigger_id, key),
  FOREIGN KEY (project_id, environment, trigger_id) REFERENCES triggers (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX trigger_events_by_age ON trigger_events (created_at_ms);

-- The newest requests at the address of a trigger, without bodies and secrets.
CREATE TABLE trigger_deliveries (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  trigger_id    TEXT    NOT NULL,
  outcome       TEXT    NOT NULL CHECK (outcome IN ('started', 'duplicate', 'ignored', 'failed', 'refused')),
  status        INTEGER NOT NULL, -- Of the response.
  run_id        TEXT,
  reason        TEXT,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, trigger_id) REFERENCES triggers (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX trigger_deliveries_by_trigger ON trigger_deliveries (project_id, environment, trigger_id, id);
CREATE INDEX trigger_deliveries_by_outcome ON trigger_deliveries (project_id, environment, trigger_id, outcome, id);
