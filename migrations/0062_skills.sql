-- Folders with instructions and files that agents load when they need them. Each upload under the same name is a version.
CREATE TABLE skills (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  version       INTEGER NOT NULL, -- The newest one.
  metadata      TEXT    NOT NULL, -- Of the newest version.
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, name)
) STRICT;

CREATE TABLE skill_versions (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  skill_id      TEXT    NOT NULL,
  version       INTEGER NOT NULL, -- From 1.
  head          TEXT    NOT NULL, -- JSON of the front matter.
  sha256        TEXT    NOT NULL, -- Of the paths and the hashes of all its files.
  bytes         INTEGER NOT NULL, -- Of all its files.
  files         INTEGER NOT NULL, -- How many it has.
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, skill_id, version),
  FOREIGN KEY (project_id, environment, skill_id) REFERENCES skills (project_id, environment, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE skill_files (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  skill_id    TEXT    NOT NULL,
  version     INTEGER NOT NULL,
  path        TEXT    NOT NULL,
  sha256      TEXT    NOT NULL,
  bytes       INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, skill_id, version, path),
  FOREIGN KEY (project_id, environment, skill_id, version)
    REFERENCES skill_versions (project_id, environment, skill_id, version) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, sha256) REFERENCES file_blobs (project_id, environment, sha256)
) STRICT;
CREATE INDEX skill_files_by_content ON skill_files (project_id, environment, sha256);
