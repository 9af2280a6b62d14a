-- What local accounts have beside a password, or in its place.
CREATE TABLE totp (
  user_id         TEXT    PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  sealed          TEXT    NOT NULL, -- The secret that the authenticator app has too.
  last_step       INTEGER NOT NULL, -- The newest step of 30 s whose code was taken: none of it or before it is taken again.
  confirmed_at_ms INTEGER           -- NULL until a first code has shown that the app has the secret.
) STRICT;

-- Each lets somebody in once whose app is lost. Only hashes are stored.
CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash    BLOB NOT NULL,
  PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
  id              TEXT    PRIMARY KEY,
  user_id         TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  credential_id   TEXT    NOT NULL UNIQUE,
  public_key      BLOB    NOT NULL,
  counter         INTEGER NOT NULL, -- Of an authenticator that counts: it only grows, or somebody has a copy.
  rp_id           TEXT    NOT NULL, -- The name of the server that it was made for.
  name            TEXT    NOT NULL,
  created_at_ms   INTEGER NOT NULL,
  last_used_at_ms INTEGER
) STRICT;
CREATE INDEX passkeys_by_user ON passkeys (user_id);
