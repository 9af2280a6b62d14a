-- Documents that wait to be read, by whose they are: projects and environments take turns. Those that are read, and wait
-- for memory stores, are looked at all together.
DROP INDEX files_processing;
CREATE INDEX files_unread ON files (project_id, environment, id)
  WHERE status IN ('uploaded', 'processing') AND chunks = 0;
CREATE INDEX files_read ON files (id) WHERE status IN ('uploaded', 'processing') AND chunks > 0;
