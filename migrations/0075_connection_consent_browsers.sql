-- The browser in which an operator began a consent, by the hash of its cookie: no other one can complete it.
ALTER TABLE model_connection_consents ADD COLUMN browser_hash BLOB;
