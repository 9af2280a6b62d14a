-- What lists of runs are narrowed and sorted by, beside what stands in the search index: written with it, once a run is over.
ALTER TABLE runs ADD COLUMN cost_nano_usd INTEGER; -- NULL where nobody knows, or it is not over.
-- Their condition keeps both out of the commits of runs.
CREATE INDEX runs_by_cost ON runs (project_id, environment, cost_nano_usd, id) WHERE projected & 1 = 1;
CREATE INDEX runs_by_duration ON runs (project_id, environment, worked_ms, id) WHERE projected & 1 = 1;
CREATE INDEX scores_by_name ON scores (project_id, environment, name, value, run_id);
-- Runs that are in the index already lack it.
UPDATE runs SET projected = projected & ~1 WHERE projected & 1 = 1;
