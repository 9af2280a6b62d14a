-- Sessions are counted for each key and token, so that one page does not push out the others.
CREATE INDEX mcp_sessions_of_asker ON mcp_sessions (project_id, environment, asker, expires_at_ms);
DROP INDEX mcp_sessions_of_scope;
