-- Runs whose record is stored, or deleted, piece by piece: what stands in run_events for them is only a part. A run that
-- arrives, or goes, has the status 'partial' meanwhile and is seen by nobody; one that keeps its row has lost its trace. A
-- row that is found at a start was left by a crash: what is there of the record is deleted.
CREATE TABLE partial_records (
  run_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
