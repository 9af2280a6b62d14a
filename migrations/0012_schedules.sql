-- What starts runs by the clock. `next_at_ms` moves in the transaction that creates the run of the time before it, so that
-- a crash neither loses a run nor starts one twice.
CREATE TABLE schedules (
  project_id      TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment     TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id              TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  agent_id        TEXT    NOT NULL, -- No foreign key: where the agent is gone, the schedule fails and says so.
  definition      TEXT    NOT NULL, -- What its runs are created with.
  cron            TEXT    NOT NULL,
  timezone        TEXT    NOT NULL,
  enabled         INTEGER NOT NULL,
  catch_up        TEXT    NOT NULL CHECK (catch_up IN ('skip', 'one')),
  if_busy         TEXT    NOT NULL CHECK (if_busy IN ('skip', 'queue', 'start')),
  next_at_ms      INTEGER, -- NULL while it is not enabled.
  next_run_ats    TEXT    NOT NULL, -- That and the ones after it: read often, and slow to work out.
  queued_at_ms    INTEGER, -- The planned time whose run waits until the one before is over.
  failure_count   INTEGER NOT NULL DEFAULT 0, -- In a row.
  disabled_reason TEXT,
  last_error      TEXT,
  last_run_id     TEXT,
  metadata        TEXT    NOT NULL,
  created_at_ms   INTEGER NOT NULL,
  updated_at_ms   INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;
CREATE INDEX schedules_due ON schedules (next_at_ms) WHERE next_at_ms IS NOT NULL;
CREATE INDEX schedules_queued ON schedules (queued_at_ms) WHERE queued_at_ms IS NOT NULL;

-- What came of each planned time, and of each time that somebody asked for a run.
CREATE TABLE schedule_runs (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  schedule_id   TEXT    NOT NULL,
  trigger       TEXT    NOT NULL CHECK (trigger IN ('plan', 'catch_up', 'request')),
  due_at_ms     INTEGER NOT NULL,
  outcome       TEXT    NOT NULL CHECK (outcome IN ('started', 'completed', 'failed', 'cancelled', 'skipped', 'missed')),
  run_id        TEXT, -- NULL where none was created. No foreign key: runs are deleted by their own age.
  error         TEXT,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, schedule_id) REFERENCES schedules (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX schedule_runs_by_schedule ON schedule_runs (project_id, environment, schedule_id, id);
-- No planned time comes twice, whatever else goes wrong.
CREATE UNIQUE INDEX schedule_runs_once ON schedule_runs (project_id, environment, schedule_id, due_at_ms)
  WHERE trigger <> 'request';
CREATE INDEX schedule_runs_by_run ON schedule_runs (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX schedule_runs_going ON schedule_runs (project_id, environment, schedule_id) WHERE outcome = 'started';
