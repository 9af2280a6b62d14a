-- What is searched: runs that are over, threads, agents, tools, memory stores, files and webhooks. It is filled behind what
-- it tells of: the end of a run costs one entry of an index, which says that the run is still to be read. The words stand in
-- `search_words` under the number of their document, which sorts as ids do, so that the newest are found first.
CREATE TABLE search_documents (
  number        INTEGER PRIMARY KEY,
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  type          TEXT    NOT NULL,
  id            TEXT    NOT NULL, -- No foreign key: of several tables. Triggers stand for it.
  created_at_ms INTEGER NOT NULL,
  UNIQUE (project_id, environment, id)
) STRICT;

-- `place` says by words of its own in which project and environment a document is, of which type, and what lists of runs are
-- narrowed by. One table for all: a query names its place, and what it finds is held against search_documents.
CREATE VIRTUAL TABLE search_words USING fts5(
  place, title, text, columnsize = 0, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2');
-- Words go with the row that had them, and not when their part of the index is written anew.
INSERT INTO search_words (search_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER search_document_gone AFTER DELETE ON search_documents BEGIN
  DELETE FROM search_words WHERE rowid = OLD.number;
END;

-- Runs: bit 1 says that one that is over is in the index as it is now.
ALTER TABLE runs ADD COLUMN projected INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_unprojected ON runs (id) WHERE ended_at_ms IS NOT NULL AND projected < 1;
CREATE TRIGGER search_run_gone AFTER DELETE ON runs BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
-- Its trace was deleted, or the run is hidden until its long record is gone.
CREATE TRIGGER search_run_changed AFTER UPDATE OF summary ON runs BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
  UPDATE runs SET projected = projected & ~1 WHERE id = NEW.id;
END;

-- Everything else that is to be read anew, soon after its commit.
CREATE TABLE search_changes (
  project_id  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL CHECK (environment IN ('test', 'live')),
  type        TEXT NOT NULL,
  id          TEXT NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER search_agent_new AFTER INSERT ON agents BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'agent', NEW.id);
END;
CREATE TRIGGER search_agent_changed AFTER UPDATE OF name, definition, metadata ON agents BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'agent', NEW.id);
END;
CREATE TRIGGER search_agent_gone AFTER DELETE ON agents BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_tool_new AFTER INSERT ON tools BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'tool', NEW.id);
END;
CREATE TRIGGER search_tool_changed AFTER UPDATE OF name, definition, metadata ON tools BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'tool', NEW.id);
END;
CREATE TRIGGER search_tool_gone AFTER DELETE ON tools BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_thread_new AFTER INSERT ON threads BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'thread', NEW.id);
END;
CREATE TRIGGER search_thread_changed AFTER UPDATE OF title, user_id, metadata ON threads BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'thread', NEW.id);
END;
CREATE TRIGGER search_thread_gone AFTER DELETE ON threads BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_memory_new AFTER INSERT ON memory_stores WHEN NEW.deleted_at_ms IS NULL BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'memory', NEW.id);
END;
CREATE TRIGGER search_memory_changed AFTER UPDATE OF name, metadata, deleted_at_ms ON memory_stores WHEN NEW.deleted_at_ms IS NULL BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'memory', NEW.id);
END;
CREATE TRIGGER search_memory_hidden AFTER UPDATE OF deleted_at_ms ON memory_stores WHEN NEW.deleted_at_ms IS NOT NULL BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_memory_gone AFTER DELETE ON memory_stores BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_file_new AFTER INSERT ON files BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'file', NEW.id);
END;
CREATE TRIGGER search_file_changed AFTER UPDATE OF filename, metadata, agent_id ON files BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'file', NEW.id);
END;
CREATE TRIGGER search_file_gone AFTER DELETE ON files BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_webhook_new AFTER INSERT ON webhooks WHEN NEW.deleted_at_ms IS NULL AND NEW.run_id IS NULL BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'webhook', NEW.id);
END;
CREATE TRIGGER search_webhook_changed AFTER UPDATE OF url, events, description, name, metadata, deleted_at_ms ON webhooks WHEN NEW.deleted_at_ms IS NULL AND NEW.run_id IS NULL BEGIN
  INSERT OR IGNORE INTO search_changes VALUES (NEW.project_id, NEW.environment, 'webhook', NEW.id);
END;
CREATE TRIGGER search_webhook_hidden AFTER UPDATE OF deleted_at_ms ON webhooks WHEN NEW.deleted_at_ms IS NOT NULL BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;
CREATE TRIGGER search_webhook_gone AFTER DELETE ON webhooks BEGIN
  DELETE FROM search_documents WHERE project_id = OLD.project_id AND environment = OLD.environment AND id = OLD.id;
END;

-- What is there already; runs that are over are found by their index.
INSERT INTO search_changes SELECT project_id, environment, 'agent', id FROM agents;
INSERT INTO search_changes SELECT project_id, environment, 'tool', id FROM tools;
INSERT INTO search_changes SELECT project_id, environment, 'thread', id FROM threads;
INSERT INTO search_changes SELECT project_id, environment, 'memory', id FROM memory_stores WHERE deleted_at_ms IS NULL;
INSERT INTO search_changes SELECT project_id, environment, 'file', id FROM files;
INSERT INTO search_changes SELECT project_id, environment, 'webhook', id FROM webhooks WHERE deleted_at_ms IS NULL AND run_id IS NULL;
