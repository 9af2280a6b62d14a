-- What followed when a key came in clear text. Keys of before were revoked at once or kept.
ALTER TABLE api_keys ADD COLUMN exposure TEXT CHECK (exposure IN ('revoked', 'kept', 'last_admin_key', 'local'));
UPDATE api_keys
SET exposure = CASE WHEN abs(coalesce(revoked_at_ms, 0) - exposed_at_ms) < 5000 THEN 'revoked' ELSE 'kept' END
WHERE exposed_at_ms IS NOT NULL;
