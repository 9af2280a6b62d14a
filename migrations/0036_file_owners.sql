-- Who sent a file from a browser. A client token names it by what it is bound to, its user or its thread: whoever has another
-- bond does not find the file. It goes with the last run that has it, as an image does, or soon where no run takes it.
ALTER TABLE files ADD COLUMN owner TEXT;
CREATE INDEX files_by_owner ON files (project_id, environment, agent_id, owner) WHERE owner IS NOT NULL;
