-- What webhooks answered by callback_url before their run had come to wait for it: its other calls were still at work.
-- Given to the run as soon as it waits.
CREATE TABLE early_outputs (
  run_id  TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  answer  TEXT NOT NULL,
  PRIMARY KEY (run_id, call_id)
) STRICT;
