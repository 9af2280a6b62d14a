-- Where messages stood that went with their runs: whoever pages a thread may hold one of them as a cursor, and what is
-- said later takes no place a second time.
CREATE TABLE thread_places (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  thread_id   TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, thread_id) REFERENCES threads (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE VIEW thread_positions AS
  SELECT project_id, environment, thread_id, id, position FROM thread_messages
  UNION ALL SELECT project_id, environment, thread_id, id, position FROM thread_places;
