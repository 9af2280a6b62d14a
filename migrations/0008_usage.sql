-- What the operator says that models cost, in USD per million tokens, in place of the prices that come along. A name
-- that ends in /* stands for every model of a server of the operator's own. No project's: the bill is the operator's.
CREATE TABLE model_prices (
  model          TEXT    PRIMARY KEY,
  input          REAL    NOT NULL CHECK (input >= 0),
  cached_input   REAL    NOT NULL CHECK (cached_input >= 0),
  output         REAL    NOT NULL CHECK (output >= 0),
  context_window INTEGER,
  set_at_ms      INTEGER NOT NULL
) STRICT;

-- What runs used, by day (UTC): written in the transaction of the journal's entries that it counts, so that a crash can
-- neither lose nor repeat any of it. Rows outlive the runs that they count, and go with their project. Money is in whole
-- nano-dollars: sums of fractions would drift.
CREATE TABLE usage_days (
  project_id          TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment         TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  day                 TEXT    NOT NULL, -- 2026-11-21
  agent_id            TEXT    NOT NULL, -- No foreign key: usage outlives its agent.
  model               TEXT    NOT NULL,
  runs_started        INTEGER NOT NULL,
  runs_completed      INTEGER NOT NULL,
  runs_failed         INTEGER NOT NULL,
  runs_cancelled      INTEGER NOT NULL,
  model_calls         INTEGER NOT NULL,
  tool_calls          INTEGER NOT NULL,
  input_tokens        INTEGER NOT NULL,
  output_tokens       INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  reasoning_tokens    INTEGER NOT NULL,
  cost_nano_usd       INTEGER NOT NULL,
  unknown_tokens      INTEGER NOT NULL, -- Model calls of which the provider did not say how many tokens they took.
  unknown_cost        INTEGER NOT NULL, -- Model calls whose cost nobody knows.
  estimated           INTEGER NOT NULL, -- Model calls that broke off and were counted here.
  PRIMARY KEY (project_id, environment, day, agent_id, model)
) STRICT, WITHOUT ROWID;

-- The model that a run pinned: whoever counts its calls finds it beside the agent, and does not read the journal for it.
ALTER TABLE runs ADD COLUMN model TEXT;
-- Only runs that go on are counted from now on.
UPDATE runs SET model = (SELECT json_extract(data, '$.model') FROM run_events WHERE run_id = runs.id AND seq = 1)
WHERE status IN ('queued', 'in_progress', 'requires_action');
