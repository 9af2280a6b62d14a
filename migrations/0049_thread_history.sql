-- An agent that is created without a memory policy reads the thread of its runs from now on. Of those that exist it is
-- written down that they remember nothing: they keep what they do.
UPDATE agents SET definition = json_set(definition, '$.memory', NULL) WHERE json_type(definition, '$.memory') IS NULL;
UPDATE agent_versions SET definition = json_set(definition, '$.memory', NULL) WHERE json_type(definition, '$.memory') IS NULL;
