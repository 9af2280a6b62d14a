-- Parts of requests that a connection's server refused, for one of its models: later requests leave them out. `identity`
-- is the state of the connection: refusals of another address or key do not count.
CREATE TABLE learnt_refusals (
  prefix       TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  identity     TEXT    NOT NULL,
  refusals     TEXT    NOT NULL,
  learnt_at_ms INTEGER NOT NULL,
  PRIMARY KEY (prefix, model)
) STRICT, WITHOUT ROWID;
