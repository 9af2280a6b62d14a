-- Runs that began from the record of another: replays, forks, and traces that came from elsewhere.
ALTER TABLE runs ADD COLUMN origin TEXT NOT NULL DEFAULT 'run' CHECK (origin IN ('run', 'replay', 'fork', 'import'));
ALTER TABLE runs ADD COLUMN source_run_id TEXT; -- The run replayed or forked. No foreign key: it may be deleted.
CREATE INDEX runs_by_source ON runs (project_id, environment, source_run_id, id) WHERE source_run_id IS NOT NULL;
