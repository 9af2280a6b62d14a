-- Who changed what. A row is written in the transaction of the change that it tells of: neither is ever there alone.
CREATE TABLE audit_log (
  id            TEXT    PRIMARY KEY,
  project_id    TEXT    REFERENCES projects (id) ON DELETE CASCADE, -- NULL: it concerns the whole server.
  environment   TEXT    CHECK (environment IN ('test', 'live')),    -- NULL: it concerns both of the project's.
  action        TEXT    NOT NULL,
  actor_type    TEXT    NOT NULL CHECK (actor_type IN ('api_key', 'user', 'cli')),
  actor_id      TEXT    NOT NULL,
  ip            TEXT,
  request_id    TEXT,
  target_type   TEXT,
  target_id     TEXT,
  details       TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  CHECK (project_id IS NOT NULL OR environment IS NULL)
) STRICT;
CREATE INDEX audit_log_by_project ON audit_log (project_id, id);
CREATE INDEX audit_log_by_age ON audit_log (created_at_ms);

-- Rows go with their project, and when their time is up; what they say is never changed.
CREATE TRIGGER audit_log_is_never_edited BEFORE UPDATE ON audit_log
BEGIN
  SELECT RAISE(ABORT, 'The audit log is never edited.');
END;
