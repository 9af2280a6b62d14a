-- What a client of the MCP door said when it connected, on which all its later requests rely: so a session outlives the
-- process. What happens in it stands in the journals of its runs.
CREATE TABLE mcp_sessions (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  asker         TEXT    NOT NULL, -- The id of whoever opened it: it is nobody else's.
  address       TEXT    NOT NULL, -- The path at which it was opened.
  version       TEXT    NOT NULL,
  elicits       INTEGER NOT NULL CHECK (elicits IN (0, 1)),
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;
CREATE INDEX mcp_sessions_of_scope ON mcp_sessions (project_id, environment, expires_at_ms);
CREATE INDEX mcp_sessions_by_end ON mcp_sessions (expires_at_ms);
