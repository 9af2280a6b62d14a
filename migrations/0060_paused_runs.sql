-- A paused run keeps its thread: the next run of the thread waits for it.
DROP INDEX runs_one_in_thread;
CREATE UNIQUE INDEX runs_one_in_thread ON runs (project_id, environment, thread_id)
  WHERE thread_id IS NOT NULL AND status IN ('in_progress', 'requires_action', 'paused');
-- A paused run has no deadline, so runs_expiry does not list it.
CREATE INDEX runs_paused ON runs (status) WHERE status = 'paused';
