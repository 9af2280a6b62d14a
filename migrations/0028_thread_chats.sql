-- What clients of other protocols call a thread: a conversation with one agent, of one user or of nobody. A name leads to
-- one thread, and nothing of the conversation stands here. It moves to another thread when its client takes back what was
-- said: the thread that it had stays as it is.
CREATE TABLE thread_chats (
  project_id  TEXT NOT NULL,
  environment TEXT NOT NULL,
  agent_id    TEXT NOT NULL, -- No foreign key: the agent may be deleted.
  user_id     TEXT NOT NULL, -- '' is nobody.
  chat        TEXT NOT NULL,
  thread_id   TEXT NOT NULL,
  PRIMARY KEY (project_id, environment, agent_id, user_id, chat),
  FOREIGN KEY (project_id, environment, thread_id) REFERENCES threads (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- For the deletion of a thread.
CREATE INDEX thread_chats_by_thread ON thread_chats (project_id, environment, thread_id);
