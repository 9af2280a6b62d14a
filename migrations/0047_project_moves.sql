-- Projects on their way between the cells of a cluster. A project that is on its way out has no rows but its parcel, so that
-- nobody works on it; one that has come in is named, so that it comes in once.
CREATE TABLE project_moves (
  id      TEXT    PRIMARY KEY,
  project TEXT    NOT NULL, -- Its id. No foreign key: here or in the other cell.
  name    TEXT    NOT NULL,
  cell    TEXT    NOT NULL, -- The other one.
  state   TEXT    NOT NULL CHECK (state IN ('out', 'gone', 'in')),
  at_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX project_moves_by_project ON project_moves (project, state);

-- All rows of a project, in pieces.
CREATE TABLE project_parcels (
  move     TEXT    NOT NULL REFERENCES project_moves (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  content  BLOB    NOT NULL,
  PRIMARY KEY (move, position)
) STRICT;
