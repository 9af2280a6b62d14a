-- How long runs worked, by the day (UTC) on which they completed or failed: medians and the like are read from it. Runs
-- are counted by ranges of durations, whose width is a sixteenth or less, so a row stays small however many runs it
-- counts. Written, kept and dropped with usage_days: outlives the runs too.
CREATE TABLE usage_durations (
  project_id  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL CHECK (environment IN ('test', 'live')),
  day         TEXT NOT NULL, -- 2026-11-21
  agent_id    TEXT NOT NULL, -- No foreign key: usage outlives its agent.
  model       TEXT NOT NULL,
  runs_by_ms  TEXT NOT NULL, -- {"2432": 5}: five runs of 2,432 ms or up to a sixteenth more.
  PRIMARY KEY (project_id, environment, day, agent_id, model)
) STRICT, WITHOUT ROWID;

-- The runs that ended before this table was there, as far as they still are. Replays and imports are no usage.
INSERT INTO usage_durations
WITH RECURSIVE widths (width) AS (SELECT 1 UNION ALL SELECT width * 2 FROM widths WHERE width < 1 << 26),
ended AS (
  SELECT project_id, environment, ended_at_ms, agent_id, model, min(worked_ms, 2147483647) AS worked_ms,
    (SELECT max(width) FROM widths WHERE width = 1 OR width * 16 <= min(worked_ms, 2147483647)) AS width FROM runs
  WHERE status IN ('completed', 'failed') AND origin IN ('run', 'fork')
),
counted AS (
  SELECT project_id, environment, date(ended_at_ms / 1000, 'unixepoch') AS day, agent_id, coalesce(model, '') AS model,
    CAST(worked_ms / width * width AS TEXT) AS ms, count(*) AS runs
  FROM ended GROUP BY 1, 2, 3, 4, 5, 6
)
SELECT project_id, environment, day, agent_id, model, json_group_object(ms, runs) FROM counted GROUP BY 1, 2, 3, 4, 5;
