-- The agent that answered last in a thread: after a handoff the one that went on.
ALTER TABLE threads ADD COLUMN last_agent_id TEXT;
