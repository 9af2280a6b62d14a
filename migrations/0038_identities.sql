-- People who sign in at an OpenID Connect issuer. An account without a password has an empty `password_hash`, which no password
-- matches.
CREATE TABLE identities (
  issuer        TEXT    NOT NULL,
  subject       TEXT    NOT NULL, -- Who it is at the issuer: this stays, a mail address may be given to somebody else.
  user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_user ON identities (user_id);
