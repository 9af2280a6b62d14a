-- Documents that wait to be read, also by who sent them: the visitors of one project take turns, too.
DROP INDEX files_unread;
CREATE INDEX files_unread ON files (project_id, environment, coalesce(owner, '.'), id)
  WHERE status IN ('uploaded', 'processing') AND chunks = 0;
