-- Requests to delete everything of one user. Each goes on, also after a crash, until there is nothing of them left; then it
-- forgets who they were, and keeps numbers.
CREATE TABLE erasures (
  project_id      TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment     TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id              TEXT    NOT NULL,
  user_id         TEXT, -- NULL once it is done.
  deleted         TEXT    NOT NULL, -- JSON: how many of each kind are gone, counted in the write that deletes them.
  created_at_ms   INTEGER NOT NULL,
  completed_at_ms INTEGER,
  PRIMARY KEY (project_id, environment, id)
) STRICT;
-- One at a time for a user, and the first that are not done.
CREATE UNIQUE INDEX erasures_going ON erasures (project_id, environment, user_id) WHERE user_id IS NOT NULL;

-- Documents that runs were given: one of them goes with a user when no run of somebody else was given it too. Until now
-- the journals alone knew. No reference to the file: it may be deleted before its runs.
CREATE TABLE run_files (
  project_id  TEXT NOT NULL,
  environment TEXT NOT NULL,
  file_id     TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  PRIMARY KEY (project_id, environment, file_id, run_id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX run_files_by_run ON run_files (project_id, environment, run_id);
INSERT OR IGNORE INTO run_files (project_id, environment, file_id, run_id)
  SELECT r.project_id, r.environment, given.value, r.id
  FROM runs AS r JOIN run_events AS e ON e.run_id = r.id AND e.seq = 1, json_each(e.data, '$.file_ids') AS given
  WHERE e.data LIKE '%"file_ids":["%';

-- What a run has made, and what suites have noted of it.
CREATE INDEX files_by_run ON files (project_id, environment, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX suite_run_cases_by_run ON suite_run_cases (project_id, environment, run_id);
