-- Runs that a call of another run started. They are found by their parent: to answer its call, to end with it, to be
-- started once only. No foreign key: the rows of a tree go in one transaction or by their own age.
ALTER TABLE runs ADD COLUMN parent_run_id TEXT;
ALTER TABLE runs ADD COLUMN parent_call_id TEXT;
ALTER TABLE runs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0; -- How many parents there are above it.
CREATE UNIQUE INDEX runs_by_parent ON runs (parent_run_id, parent_call_id) WHERE parent_run_id IS NOT NULL;
