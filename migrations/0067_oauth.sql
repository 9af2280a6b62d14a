-- Registrations of this server at authorization servers.
CREATE TABLE oauth_clients (
  project_id     TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment    TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id             TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  grant          TEXT    NOT NULL CHECK (grant IN ('client_credentials', 'authorization_code')),
  per_user       INTEGER NOT NULL, -- 1: each user has a grant; 0: the project has one.
  mcp_server_url TEXT, -- The MCP server whose discovery registers this client; NULL: it was configured.
  definition     TEXT    NOT NULL, -- JSON: addresses, scopes and the like.
  sealed         TEXT    NOT NULL, -- The client's secret, encrypted.
  metadata       TEXT    NOT NULL,
  created_at_ms  INTEGER NOT NULL,
  updated_at_ms  INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;

-- Stored tokens: one set for each user of a client, or one for the project.
CREATE TABLE oauth_grants (
  project_id      TEXT    NOT NULL,
  environment     TEXT    NOT NULL,
  id              TEXT    NOT NULL,
  oauth_client_id TEXT    NOT NULL,
  user_id         TEXT, -- NULL: the project's.
  status          TEXT    NOT NULL CHECK (status IN ('active', 'failed')),
  sealed          TEXT    NOT NULL, -- The tokens, encrypted. Empty once the grant has failed.
  scopes          TEXT    NOT NULL, -- JSON.
  is_refreshable  INTEGER NOT NULL,
  expires_at_ms   INTEGER, -- Of the access token; NULL: the issuer did not say.
  refreshed_at_ms INTEGER,
  wanted_scopes   TEXT    NOT NULL, -- JSON: scopes that a server missed in its tokens, for the next authorization.
  error           TEXT, -- JSON: why the grant has failed.
  created_at_ms   INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, oauth_client_id) REFERENCES oauth_clients (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX oauth_grants_by_user ON oauth_grants (project_id, environment, oauth_client_id, ifnull(user_id, ''));
CREATE INDEX oauth_grants_of_user ON oauth_grants (project_id, environment, user_id) WHERE user_id IS NOT NULL;

-- Users who were sent to an authorization server and have not come back yet.
CREATE TABLE oauth_authorizations (
  project_id      TEXT    NOT NULL,
  environment     TEXT    NOT NULL,
  state_hash      BLOB    NOT NULL, -- SHA-256 of the state, which only the user's browser has.
  oauth_client_id TEXT    NOT NULL,
  user_id         TEXT,
  run_id          TEXT, -- No foreign key: a grant is useful without its run.
  return_url      TEXT,
  sealed          TEXT    NOT NULL, -- The verifier of PKCE, encrypted.
  expires_at_ms   INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, state_hash),
  FOREIGN KEY (project_id, environment, oauth_client_id) REFERENCES oauth_clients (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- The callback has only the state.
CREATE UNIQUE INDEX oauth_authorizations_by_state ON oauth_authorizations (state_hash);
CREATE INDEX oauth_authorizations_by_expiry ON oauth_authorizations (expires_at_ms);

-- Tokens that were erased here and are still to be revoked at their issuers.
CREATE TABLE oauth_revocations (
  project_id      TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment     TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id              TEXT    NOT NULL,
  sealed          TEXT    NOT NULL, -- The request with its token, encrypted.
  attempts        INTEGER NOT NULL,
  due_at_ms       INTEGER NOT NULL,
  created_at_ms   INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;
CREATE INDEX oauth_revocations_by_due ON oauth_revocations (due_at_ms);
