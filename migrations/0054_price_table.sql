-- The list prices that the operator loaded in place of the built-in ones: at most one table. `version` differs for each
-- load, so that a server notices a load by another process without reading the lines.
CREATE TABLE model_price_table (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version TEXT NOT NULL,
  as_of TEXT NOT NULL,
  origin TEXT NOT NULL,
  models INTEGER NOT NULL,
  lines TEXT NOT NULL,
  loaded_at_ms INTEGER NOT NULL
) STRICT;
-- Prices of tokens that a provider writes to its cache; NULL is the price of input.
ALTER TABLE model_prices ADD COLUMN cache_write_5m REAL;
ALTER TABLE model_prices ADD COLUMN cache_write_1h REAL;
