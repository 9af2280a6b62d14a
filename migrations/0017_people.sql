-- People of the dashboard: what each may do, where they are signed in, and who was asked to join. Whoever is there owns it.
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'owner' CHECK (role IN ('owner', 'member', 'viewer'));

-- With a name that may be shown, since the hash is as good as no name, and with where it was opened.
CREATE TABLE named_sessions (
  hash            BLOB    PRIMARY KEY,
  id              TEXT    NOT NULL UNIQUE,
  user_id         TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  user_agent      TEXT,
  ip              TEXT,
  created_at_ms   INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO named_sessions
  SELECT hash, 'ses_' || lower(hex(randomblob(13))), user_id, NULL, NULL, created_at_ms, last_seen_at_ms FROM sessions;
DROP TABLE sessions;
ALTER TABLE named_sessions RENAME TO sessions;
CREATE INDEX sessions_by_user ON sessions (user_id);

-- One-time links by which somebody makes an account. Only the hash of the link's token is stored.
CREATE TABLE invitations (
  id            TEXT    PRIMARY KEY,
  hash          BLOB    NOT NULL UNIQUE,
  email         TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  role          TEXT    NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
  invited_by    TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT;
