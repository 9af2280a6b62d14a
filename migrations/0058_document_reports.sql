-- What the upload says about a document: its encoding, and whether hidden text is read.
ALTER TABLE files ADD COLUMN encoding TEXT;
ALTER TABLE files ADD COLUMN include_hidden INTEGER NOT NULL DEFAULT 0 CHECK (include_hidden IN (0, 1));
-- Pages that are read so far, while a document is processed page by page.
ALTER TABLE files ADD COLUMN pages_done INTEGER;
-- JSON {characters, encoding, warnings}; NULL before the document is read, and for files read by earlier versions.
ALTER TABLE files ADD COLUMN report TEXT;
