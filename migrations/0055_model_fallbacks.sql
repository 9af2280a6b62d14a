-- Models that are asked if those of the connection cannot answer, as a JSON list: full names of models, or prefixes of
-- connections that have the same models. NULL is none.
ALTER TABLE model_connections ADD COLUMN fallbacks TEXT CHECK (json_valid(fallbacks));
