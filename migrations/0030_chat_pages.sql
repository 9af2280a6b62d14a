-- The page on which people talk with an agent without an API key: at most one for an agent, and none by itself. The tokens
-- of its visitors name the page's id, so a page that has another id, or is gone, has ended all of them at once.
CREATE TABLE chat_pages (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  agent_id      TEXT    NOT NULL UNIQUE, -- The address names nothing else.
  id            TEXT    NOT NULL UNIQUE, -- Another one with each new link.
  settings      TEXT    NOT NULL,
  sealed        TEXT    NOT NULL, -- The secret of the link.
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, agent_id),
  UNIQUE (project_id, environment, id),
  FOREIGN KEY (project_id, environment, agent_id) REFERENCES agents (project_id, environment, id) ON DELETE CASCADE
) STRICT;
