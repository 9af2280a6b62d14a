-- A run's later events stood beside its first ones, in pages that other runs had filled meanwhile: each commit split some,
-- and an event of more than 1 KB took a page of its own. A table with row ids is only appended to, and its key is an index
-- of small entries.
CREATE TABLE new_run_events (
  run_id TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq    INTEGER NOT NULL,
  at_ms  INTEGER NOT NULL,
  type   TEXT    NOT NULL,
  data   TEXT    NOT NULL,
  blobs  TEXT, -- {"field": "hash"}: fields of data that are large and stand in blobs.
  PRIMARY KEY (run_id, seq)
) STRICT;
INSERT INTO new_run_events SELECT * FROM run_events ORDER BY run_id, seq;
DROP TABLE run_events;
ALTER TABLE new_run_events RENAME TO run_events;
