-- Tokens of model connections to which an operator consented. No foreign key, because the cells of a cluster replace
-- the rows of model_connections as a whole: the store deletes a grant with its connection.
CREATE TABLE model_connection_grants (
  connection       TEXT    NOT NULL PRIMARY KEY,
  status           TEXT    NOT NULL CHECK (status IN ('active', 'failed')),
  sealed           TEXT    NOT NULL, -- The tokens, encrypted. Empty once the grant has failed.
  scopes           TEXT    NOT NULL, -- JSON.
  is_refreshable   INTEGER NOT NULL,
  expires_at_ms    INTEGER, -- Of the access token; NULL: the issuer did not say.
  refreshed_at_ms  INTEGER,
  claimed_until_ms INTEGER NOT NULL, -- Until then, one process refreshes the tokens. 0: none does.
  error            TEXT, -- JSON: why the grant has failed.
  created_at_ms    INTEGER NOT NULL
) STRICT;

-- Operators who were sent to an authorization server. A row stays until its end, so that a command sees the outcome.
CREATE TABLE model_connection_consents (
  state_hash    BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of the state.
  connection    TEXT    NOT NULL,
  sealed        TEXT    NOT NULL, -- The verifier of PKCE, encrypted. Empty once the operator came back.
  is_done       INTEGER NOT NULL, -- 1: the tokens were stored, or `error` says why not.
  error         TEXT, -- JSON.
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Tokens that were erased here and are still to be revoked at their issuers.
CREATE TABLE model_connection_revocations (
  id        TEXT    NOT NULL PRIMARY KEY,
  sealed    TEXT    NOT NULL, -- The request with its tokens, encrypted.
  attempts  INTEGER NOT NULL,
  due_at_ms INTEGER NOT NULL
) STRICT;

UPDATE model_connections
   SET auth = json_set(auth, '$.authorization_endpoint', NULL, '$.revocation_endpoint', NULL)
 WHERE auth IS NOT NULL;
