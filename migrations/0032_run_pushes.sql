-- A webhook of one run: whoever follows the run by another protocol is told of it in that protocol's words. It is none of
-- those that the project manages, and goes with its run.
ALTER TABLE webhooks ADD COLUMN run_id TEXT;
ALTER TABLE webhooks ADD COLUMN name TEXT; -- What its client calls it, apart from others of the run.
CREATE INDEX webhooks_of_run ON webhooks (run_id) WHERE run_id IS NOT NULL;
CREATE TRIGGER webhooks_of_deleted_run AFTER DELETE ON runs BEGIN
  DELETE FROM webhooks WHERE run_id = old.id;
END;
