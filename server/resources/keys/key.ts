import type { KeyStatus } from "../../domain/api-types/enums.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { apiKeys } from "../../storage/db/schema.ts";

export type KeyRow = typeof apiKeys.$inferSelect;

/** Status of a key. `rotating`: it has a successor, and is accepted until the overlap ends. */
export function keyStatus(row: KeyRow, now: number): KeyStatus {
  if (row.revoked_at_ms !== null) return "revoked";
  if (row.expires_at_ms !== null && row.expires_at_ms <= now) return "expired";
  return row.rotated_to === null ? "active" : "rotating";
}

/** An API key as clients see it: everything but the secret. */
export type ApiKey = ReturnType<typeof toApiKey>;

export const toApiKey = (row: KeyRow, now: number) => ({
  id: row.id,
  object: "api_key" as const,
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  scopes: row.scopes,
  environment: row.environment,
  project_id: row.project_id,
  status: keyStatus(row, now),
  agent_ids: row.agent_ids,
  allowed_cidrs: row.allowed_cidrs,
  metadata: row.metadata,
  created_at: timestamp(row.created_at_ms),
  created_by: row.created_by,
  last_used_at: timestampOrNull(row.last_used_at_ms),
  last_used_ip: row.last_used_ip,
  expires_at: timestampOrNull(row.expires_at_ms),
  revoked_at: timestampOrNull(row.revoked_at_ms),
  exposed_at: timestampOrNull(row.exposed_at_ms),
  exposure: row.exposure,
  rotated_to: row.rotated_to,
  rotated_from: row.rotated_from,
});
