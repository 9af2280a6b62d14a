-- Runs and threads that show an image which came along with a message. Such an image is kept once for all of them, and goes
-- with the last: until now it stayed for ever, and was kept again with each turn of a conversation that shows it.
CREATE TABLE image_uses (
  project_id  TEXT NOT NULL,
  environment TEXT NOT NULL,
  file_id     TEXT NOT NULL,
  owner_id    TEXT NOT NULL, -- Of a run or a thread; the triggers below stand for two foreign keys.
  PRIMARY KEY (project_id, environment, file_id, owner_id),
  FOREIGN KEY (project_id, environment, file_id) REFERENCES files (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX image_uses_by_owner ON image_uses (owner_id);

CREATE TRIGGER image_uses_of_run AFTER DELETE ON runs BEGIN
  DELETE FROM image_uses WHERE owner_id = OLD.id;
END;
CREATE TRIGGER image_uses_of_thread AFTER DELETE ON threads BEGIN
  DELETE FROM image_uses WHERE owner_id = OLD.id;
END;
-- Nobody finds it from then on, and a sweep deletes it with its content.
CREATE TRIGGER image_uses_last AFTER DELETE ON image_uses WHEN NOT EXISTS (
  SELECT 1 FROM image_uses WHERE project_id = OLD.project_id AND environment = OLD.environment AND file_id = OLD.file_id)
BEGIN
  UPDATE files SET expires_at_ms = 0
  WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.file_id;
END;

-- Those that are there: what was uploaded names no run, and what a tool made has another purpose.
INSERT INTO image_uses (project_id, environment, file_id, owner_id)
  SELECT project_id, environment, id, run_id FROM files
  WHERE purpose = 'attachment' AND run_id IN (SELECT id FROM runs);
UPDATE files SET expires_at_ms = 0
  WHERE purpose = 'attachment' AND run_id IS NOT NULL AND run_id NOT IN (SELECT id FROM runs);
