-- Retention asks every few minutes which runs of a project and environment ended before a day: those with their trace
-- still there, and all. One index answers both, so that the end of a run pays for one and a sweep that finds nothing
-- reads nothing, also among a million runs.
CREATE INDEX runs_by_end ON runs (project_id, environment, (summary IS NULL), ended_at_ms) WHERE ended_at_ms IS NOT NULL;
