-- What the first request with an Idempotency-Key came to. A run is not copied: its answer is the fold of its journal up
-- to seq, and the row is written in the transaction of those entries. Other answers may hold secrets and are sealed.
CREATE TABLE idempotency_keys (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  key           TEXT    NOT NULL,
  hash          TEXT    NOT NULL, -- SHA-256 of method, path and body: another request may not use the key.
  created_at_ms INTEGER NOT NULL,
  run_id        TEXT, -- No foreign key: were the key to go with its run, the same request would start another one.
  seq           INTEGER, -- A stream began after it; else the run stood there. NULL: nobody has been answered yet.
  expires_at_ms INTEGER, -- Of the run, as it stood there.
  status        INTEGER,
  location      TEXT,
  sealed        TEXT, -- The body without request_id, encrypted with the master key.
  agent_ids     TEXT, -- What the API key was bound to: a sealed answer is for keys bound to the same.
  PRIMARY KEY (project_id, environment, key),
  CHECK ((run_id IS NULL) = (sealed IS NOT NULL) AND (sealed IS NULL) = (status IS NULL))
) STRICT;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms);
