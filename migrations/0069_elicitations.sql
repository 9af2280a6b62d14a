-- A pending call may also wait for an answer to a question of its MCP server, or for its user's consent. Nobody answers
-- the latter among the approvals.
DROP VIEW approvals;
CREATE TABLE pending_calls_now (
  run_id        TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  needs         TEXT    NOT NULL CHECK (needs IN ('output', 'approval', 'reconcile', 'elicitation', 'authorization')),
  call          TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO pending_calls_now SELECT run_id, id, project_id, environment, needs, call, created_at_ms FROM pending_calls;
DROP TABLE pending_calls;
ALTER TABLE pending_calls_now RENAME TO pending_calls;
CREATE INDEX pending_calls_by_scope ON pending_calls (project_id, environment, id);
CREATE INDEX pending_calls_of_users ON pending_calls (project_id, environment) WHERE needs = 'authorization';
CREATE VIEW approvals AS
  SELECT p.id, p.run_id, p.project_id, p.environment, p.needs, p.call, p.created_at_ms, r.expires_at_ms, r.metadata
  FROM pending_calls AS p JOIN runs AS r ON r.id = p.run_id
  WHERE r.status = 'requires_action' AND p.needs <> 'authorization';
