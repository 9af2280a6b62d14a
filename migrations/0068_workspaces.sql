-- What programs share. Contents that a run or a thread needs to rebuild its folder: those that the run's journal names, and
-- those that the thread's folder has now.
CREATE TABLE workspace_contents (
  project_id  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL CHECK (environment IN ('test', 'live')),
  owner_id    TEXT NOT NULL, -- Of a run or a thread; the triggers below stand for two foreign keys.
  sha256      TEXT NOT NULL,
  PRIMARY KEY (project_id, environment, owner_id, sha256),
  FOREIGN KEY (project_id, environment, sha256) REFERENCES file_blobs (project_id, environment, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_contents_by_content ON workspace_contents (project_id, environment, sha256);

CREATE TRIGGER workspace_contents_of_run AFTER DELETE ON runs BEGIN
  DELETE FROM workspace_contents
  WHERE project_id = OLD.project_id AND environment = OLD.environment AND owner_id = OLD.id;
END;
CREATE TRIGGER workspace_contents_of_thread AFTER DELETE ON threads BEGIN
  DELETE FROM workspace_contents
  WHERE project_id = OLD.project_id AND environment = OLD.environment AND owner_id = OLD.id;
END;
-- A sweep deletes content without a hash.
CREATE TRIGGER workspace_contents_last AFTER DELETE ON workspace_contents WHEN NOT EXISTS (
  SELECT 1 FROM workspace_contents
  WHERE project_id = OLD.project_id AND environment = OLD.environment AND sha256 = OLD.sha256)
BEGIN
  UPDATE file_blobs SET sha256 = NULL
  WHERE project_id = OLD.project_id AND environment = OLD.environment AND sha256 = OLD.sha256
    AND NOT EXISTS (SELECT 1 FROM files
      WHERE project_id = OLD.project_id AND environment = OLD.environment AND sha256 = OLD.sha256)
    AND NOT EXISTS (SELECT 1 FROM skill_files
      WHERE project_id = OLD.project_id AND environment = OLD.environment AND sha256 = OLD.sha256);
END;

CREATE TABLE thread_workspaces (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  thread_id     TEXT    NOT NULL,
  workspace     TEXT    NOT NULL, -- JSON: the files, the inputs that it was given, the variables.
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, thread_id),
  FOREIGN KEY (project_id, environment, thread_id) REFERENCES threads (project_id, environment, id) ON DELETE CASCADE
) STRICT;
