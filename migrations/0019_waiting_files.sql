-- Documents that wait to be read, by whose they are: projects and environments take turns.
CREATE INDEX files_unread ON files (project_id, environment, id)
  WHERE status IN ('uploaded', 'processing') AND chunks = 0;
