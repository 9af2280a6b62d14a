-- How many calls the server behind a connection takes at once; NULL is as many as come. A small model server answers what is
-- above that with half an answer, or with none.
ALTER TABLE model_connections ADD COLUMN max_concurrent INTEGER CHECK (max_concurrent > 0);
