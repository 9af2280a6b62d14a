-- Named values that tools' headers refer to as {{secret.NAME}}. Encrypted with the master key, which is not in here:
-- whoever has this file alone has the names.
CREATE TABLE secrets (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  sealed        TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, name)
) STRICT;
