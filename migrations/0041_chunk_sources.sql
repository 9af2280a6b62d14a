-- Where the text of a chunk is from: 'ocr' where it was read letter by letter from an image, and may be wrong. NULL where it
-- stood as text in the document.
ALTER TABLE document_chunks ADD COLUMN source TEXT CHECK (source = 'ocr');
