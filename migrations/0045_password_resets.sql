-- One-time links by which somebody sets another password, sent to their address. Only the hash of the link's token is stored.
CREATE TABLE password_resets (
  hash          BLOB    PRIMARY KEY,
  user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX password_resets_by_user ON password_resets (user_id);
