-- Texts that agents share. Each change of the text is a version, which agents and runs refer to.
CREATE TABLE snippets (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  description   TEXT,
  version       INTEGER NOT NULL,
  text          TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, name)
) STRICT;

-- The texts by version. Rows are only inserted.
CREATE TABLE snippet_versions (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  snippet_id    TEXT    NOT NULL,
  version       INTEGER NOT NULL,
  text          TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, snippet_id, version),
  FOREIGN KEY (project_id, environment, snippet_id) REFERENCES snippets (project_id, environment, id) ON DELETE CASCADE
) STRICT;

-- Values of variables for the runs of a thread, as JSON; NULL is none.
ALTER TABLE threads ADD COLUMN variables TEXT CHECK (json_valid(variables));
