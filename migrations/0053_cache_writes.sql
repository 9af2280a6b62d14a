-- Prompt tokens that providers wrote to their caches, for five minutes and for an hour. Earlier days counted none.
ALTER TABLE usage_days ADD COLUMN cache_write_5m_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN cache_write_1h_tokens INTEGER NOT NULL DEFAULT 0;
