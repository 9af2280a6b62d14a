import type { ApiKey } from "../../../../server/domain/api-types/key.ts";

/** Returns an API key for tests, with the given fields overridden. */
export const apiKeyFixture = (overrides: Partial<ApiKey> = {}): ApiKey => ({
  id: "key_1",
  object: "api_key",
  project_id: "proj_1",
  metadata: {},
  name: "Order service",
  prefix: "sk_test_Ab12",
  last4: "9xQz",
  scopes: ["run"],
  environment: "test",
  status: "active",
  agent_ids: null,
  allowed_cidrs: null,
  created_at: "2026-11-01T00:00:00.000Z",
  created_by: "cli",
  last_used_at: null,
  last_used_ip: null,
  expires_at: null,
  revoked_at: null,
  exposed_at: null,
  exposure: null,
  rotated_to: null,
  rotated_from: null,
  ...overrides,
});
