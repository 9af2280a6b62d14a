ALTER TABLE model_connections ADD COLUMN auth TEXT;
