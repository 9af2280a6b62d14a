-- Contents of files, addressed by the SHA-256 of their bytes and shared within one project and environment. They stand
-- in here and not beside the database, so that backups, restores, erasure and transactions hold for them too.
CREATE TABLE file_blobs (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  sha256        TEXT, -- NULL while it arrives, and once no file has it any more: then its chunks are being deleted.
  bytes         INTEGER NOT NULL, -- 0 while it arrives.
  chunk_bytes   INTEGER NOT NULL, -- Of every chunk but the last: so a range is found without reading what is before it.
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, sha256)
) STRICT;
CREATE INDEX file_blobs_unused ON file_blobs (id) WHERE sha256 IS NULL;

-- Rows small enough that nobody waits for one to be written.
CREATE TABLE file_chunks (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  blob_id     TEXT    NOT NULL,
  position    INTEGER NOT NULL, -- Counts from 0.
  content     BLOB    NOT NULL,
  PRIMARY KEY (project_id, environment, blob_id, position),
  FOREIGN KEY (project_id, environment, blob_id) REFERENCES file_blobs (project_id, environment, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE files (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  sha256        TEXT    NOT NULL,
  bytes         INTEGER NOT NULL,
  filename      TEXT    NOT NULL,
  mime_type     TEXT    NOT NULL,
  purpose       TEXT    NOT NULL CHECK (purpose IN ('retrieval', 'code_interpreter', 'attachment', 'output')),
  status        TEXT    NOT NULL CHECK (status IN ('uploaded', 'processing', 'ready', 'failed')),
  run_id        TEXT, -- Of an output: no foreign keys, since it outlives its run and its agent.
  tool_call_id  TEXT,
  agent_id      TEXT,
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, sha256) REFERENCES file_blobs (project_id, environment, sha256)
) STRICT;
CREATE INDEX files_by_content ON files (project_id, environment, sha256);
CREATE INDEX files_expiry ON files (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
