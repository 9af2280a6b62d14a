-- Whose run a call is that some client was asked to make. Clients of other protocols send back the id of the call alone,
-- also when they repeat themselves because they never read the response: so a row stays as long as its run. Copies of a
-- record (replays, forks, imports) asked nobody and have no rows.
CREATE TABLE client_calls (
  project_id  TEXT NOT NULL,
  environment TEXT NOT NULL,
  id          TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX client_calls_by_run ON client_calls (project_id, environment, run_id);
INSERT OR IGNORE INTO client_calls
  SELECT project_id, environment, id, run_id FROM pending_calls WHERE json_extract(call, '$.type') = 'client';
