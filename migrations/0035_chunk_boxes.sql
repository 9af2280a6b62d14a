-- Where on its page the text of a chunk stands: JSON, a list of [left, top, right, bottom], each a fraction of the page's
-- width or height from its top left. NULL where nobody knows.
ALTER TABLE document_chunks ADD COLUMN boxes TEXT;
