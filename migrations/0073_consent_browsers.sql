-- The browser in which a user began a consent, by the hash of its cookie: no other one can complete it.
ALTER TABLE oauth_authorizations ADD COLUMN browser_hash BLOB;
-- 1 while the code is exchanged: the row stays until the grant is stored, so that an erased user gets none.
ALTER TABLE oauth_authorizations ADD COLUMN is_taken INTEGER NOT NULL DEFAULT 0;
