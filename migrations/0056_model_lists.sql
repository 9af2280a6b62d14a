-- A connection can be changed: a change names the version that it is about.
ALTER TABLE model_connections ADD COLUMN version INTEGER NOT NULL DEFAULT 1 CHECK (version > 0);
ALTER TABLE model_connections ADD COLUMN updated_at_ms INTEGER;

-- The models that a connection's server listed last, by the prefix of their names. `identity` is the state of the
-- connection: a list of another address or key does not count.
CREATE TABLE model_lists (
  prefix     TEXT    PRIMARY KEY,
  identity   TEXT    NOT NULL,
  read_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE listed_models (
  prefix  TEXT NOT NULL,
  model   TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (prefix, model)
) STRICT, WITHOUT ROWID;

-- The last test of each connection.
CREATE TABLE model_connection_tests (
  prefix       TEXT    PRIMARY KEY,
  identity     TEXT    NOT NULL,
  result       TEXT    NOT NULL,
  tested_at_ms INTEGER NOT NULL
) STRICT;
