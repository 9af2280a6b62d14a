-- Connections to Amazon Bedrock and Google Vertex AI: where their models are, and their secrets, encrypted together.

ALTER TABLE model_connections ADD COLUMN region TEXT;
ALTER TABLE model_connections ADD COLUMN project TEXT;
ALTER TABLE model_connections ADD COLUMN location TEXT;
ALTER TABLE model_connections ADD COLUMN sealed_secrets TEXT;
