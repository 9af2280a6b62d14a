-- How runs come along, by the hour and by the day (UTC) in which they ended: charts are read from here, and not from a million
-- runs. Written behind the commits of runs, each run once: bit 2 of `projected` says that it is counted. Rows outlive the runs
-- that they count. What is spent when, and what budgets are held against, stands in usage_days alone.
CREATE TABLE analytics (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  dimension     TEXT    NOT NULL, -- By what it is grouped, such as model or tool.
  unit          TEXT    NOT NULL CHECK (unit IN ('hour', 'day')),
  at_ms         INTEGER NOT NULL, -- When the hour or the day begins.
  agent_id      TEXT    NOT NULL, -- No foreign key: it outlives its agent.
  name          TEXT    NOT NULL, -- The model, the tool; of a duration the shortest of its range.
  count         INTEGER NOT NULL,
  completed     INTEGER NOT NULL,
  failed        INTEGER NOT NULL,
  cancelled     INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_nano_usd INTEGER NOT NULL,
  took_ms       INTEGER NOT NULL, -- Of all of them together.
  PRIMARY KEY (project_id, environment, dimension, unit, at_ms, agent_id, name)
) STRICT, WITHOUT ROWID;
-- A user's rows go when the user is erased.
CREATE INDEX analytics_of_user ON analytics (project_id, environment, name) WHERE dimension = 'user';

DROP INDEX runs_unprojected;
CREATE INDEX runs_unprojected ON runs (id) WHERE ended_at_ms IS NOT NULL AND projected < 3;
