-- How long the server behind a connection may send nothing while it answers; NULL is five minutes. A model that is slow to
-- begin needs more, and one that never hangs for long can be given up sooner.
ALTER TABLE model_connections ADD COLUMN idle_timeout_ms INTEGER CHECK (idle_timeout_ms > 0);
