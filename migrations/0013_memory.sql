-- What agents remember. A vector store has two tables of its own beside these, made with it and named by its number:
-- `memory_<number>_words` (FTS5) and `memory_<number>_vectors_<generation>` (vec0). A table for each and no shared one
-- with a partition: stores differ in their dimensions, no query can reach into another store, the words of others do
-- not weigh on what a word says in this one, and a change of the embedding is filled beside what is searched meanwhile.
CREATE TABLE memory_stores (
  project_id     TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment    TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id             TEXT    NOT NULL,
  number         INTEGER NOT NULL UNIQUE, -- Of the whole database; never given twice, since threads remember it.
  name           TEXT    NOT NULL,
  kind           TEXT    NOT NULL CHECK (kind IN ('vector', 'kv')),
  scope          TEXT    NOT NULL CHECK (scope IN ('user', 'session', 'project')),
  model          TEXT, -- Of the embedding; NULL for kv, like what follows.
  dimensions     INTEGER,
  generation     INTEGER, -- Of the vectors that are searched.
  next_model     TEXT, -- What the store is being indexed anew with, into the next generation; NULL when it is not.
  next_dimensions INTEGER,
  last_generation INTEGER, -- The newest that was ever given; what is indexed anew goes into it.
  ttl_seconds    INTEGER, -- How long entries and keys are kept that say nothing themselves; NULL is for ever.
  metadata       TEXT    NOT NULL,
  items          INTEGER NOT NULL DEFAULT 0, -- Entries or keys that it holds: to count them takes too long.
  last_version   INTEGER NOT NULL DEFAULT 0, -- The highest of any key that is gone: one that comes anew goes on behind it.
  created_at_ms  INTEGER NOT NULL,
  updated_at_ms  INTEGER NOT NULL,
  deleted_at_ms  INTEGER, -- Nobody finds it any more; what it holds goes in slices.
  PRIMARY KEY (project_id, environment, id)
) STRICT;
CREATE INDEX memory_stores_deleted ON memory_stores (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;

-- The last number that a store was given.
CREATE TABLE memory_store_numbers (number INTEGER NOT NULL) STRICT;
INSERT INTO memory_store_numbers VALUES (0);

CREATE TABLE memory_entries (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  memory_id     TEXT    NOT NULL,
  scope_id      TEXT    NOT NULL, -- Whose it is; '' where the store belongs to the whole project.
  file_id       TEXT, -- One of file_id and text.
  text          TEXT,
  chunking      TEXT    NOT NULL,
  metadata      TEXT    NOT NULL,
  status        TEXT    NOT NULL CHECK (status IN ('processing', 'ready', 'failed')),
  error         TEXT, -- JSON {code, message}.
  processed     INTEGER NOT NULL DEFAULT 0, -- Chunks with a vector, of so many; NULL until they are counted.
  total         INTEGER,
  tool_call_id  TEXT, -- Of the run's call that wrote it: a call that is made again writes once.
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  deleted_at_ms INTEGER, -- As in memory_stores.
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, memory_id) REFERENCES memory_stores (project_id, environment, id)
) STRICT;
CREATE INDEX memory_entries_by_store ON memory_entries (project_id, environment, memory_id, id);
CREATE INDEX memory_entries_by_scope ON memory_entries (project_id, environment, memory_id, scope_id);
CREATE INDEX memory_entries_by_file ON memory_entries (project_id, environment, file_id) WHERE file_id IS NOT NULL;
CREATE INDEX memory_entries_processing ON memory_entries (project_id, environment, memory_id, id)
  WHERE status = 'processing';
CREATE INDEX memory_entries_expiry ON memory_entries (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
CREATE INDEX memory_entries_deleted ON memory_entries (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;
CREATE UNIQUE INDEX memory_entries_by_call ON memory_entries (project_id, environment, tool_call_id)
  WHERE tool_call_id IS NOT NULL;

-- What is searched. `number` is the row of its words and its vector; it is never used twice, so that a thread that
-- remembers vectors finds what is new behind the last one that it knows.
CREATE TABLE memory_chunks (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  entry_id    TEXT    NOT NULL,
  store       INTEGER NOT NULL, -- The store's number.
  chunk_index INTEGER NOT NULL,
  text        TEXT    NOT NULL,
  tokens      INTEGER NOT NULL,
  page        INTEGER,
  heading     TEXT,
  generation  INTEGER NOT NULL DEFAULT 0, -- Of its newest vector; 0 is none yet.
  UNIQUE (project_id, environment, entry_id, chunk_index),
  FOREIGN KEY (project_id, environment, entry_id) REFERENCES memory_entries (project_id, environment, id)
) STRICT;
CREATE INDEX memory_chunks_by_store ON memory_chunks (store, number);

CREATE TABLE memory_keys (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  memory_id     TEXT    NOT NULL,
  scope_id      TEXT    NOT NULL,
  key           TEXT    NOT NULL,
  value         TEXT    NOT NULL, -- JSON.
  version       INTEGER NOT NULL,
  tool_call_id  TEXT, -- Of the run's call that wrote it last: made again, it writes nothing.
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  PRIMARY KEY (project_id, environment, memory_id, scope_id, key),
  FOREIGN KEY (project_id, environment, memory_id) REFERENCES memory_stores (project_id, environment, id)
) STRICT;
CREATE INDEX memory_keys_expiry ON memory_keys (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- The text of documents, in the pieces that are cited and embedded.
ALTER TABLE files ADD COLUMN error TEXT; -- JSON {code, message}.
ALTER TABLE files ADD COLUMN chunking TEXT; -- JSON; NULL for what is not read as a document.
ALTER TABLE files ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE files ADD COLUMN pages INTEGER; -- NULL where the format has none, or nobody has read it yet.
ALTER TABLE files ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0; -- How often its reading began.
CREATE INDEX files_processing ON files (chunks, project_id, id) WHERE status IN ('uploaded', 'processing');

CREATE TABLE document_chunks (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  file_id     TEXT    NOT NULL,
  chunk_index INTEGER NOT NULL,
  text        TEXT    NOT NULL,
  tokens      INTEGER NOT NULL,
  page        INTEGER,
  heading     TEXT,
  PRIMARY KEY (project_id, environment, file_id, chunk_index),
  FOREIGN KEY (project_id, environment, file_id) REFERENCES files (project_id, environment, id) ON DELETE CASCADE
) STRICT;
