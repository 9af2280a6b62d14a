import type { Permission, Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { KeyStatus } from "../wire/names.ts";

export interface KeyRow extends Scope {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  scopes: string;
  agent_ids: string | null;
  allowed_cidrs: string | null;
  metadata: string;
  created_by: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  exposed_at_ms: number | null;
  last_used_at_ms: number | null;
  last_used_ip: string | null;
  rotated_to: string | null;
  rotated_from: string | null;
}

/** `rotating` is a key that has a successor and is accepted until its overlap ends. */
export function keyStatus(row: KeyRow, now: number): KeyStatus {
  if (row.revoked_at_ms !== null) return "revoked";
  if (row.expires_at_ms !== null && row.expires_at_ms <= now) return "expired";
  return row.rotated_to === null ? "active" : "rotating";
}

/** An API key as clients see it: all but its secret. */
export type ApiKey = ReturnType<typeof toApiKey>;

export const toApiKey = (row: KeyRow, now: number) => ({
  id: row.id,
  object: "api_key" as const,
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  scopes: JSON.parse(row.scopes) as Permission[],
  environment: row.environment,
  project_id: row.project_id,
  status: keyStatus(row, now),
  agent_ids: row.agent_ids === null ? null : (JSON.parse(row.agent_ids) as string[]),
  allowed_cidrs: row.allowed_cidrs === null ? null : (JSON.parse(row.allowed_cidrs) as string[]),
  metadata: JSON.parse(row.metadata) as Record<string, string>,
  created_at: timestamp(row.created_at_ms),
  created_by: row.created_by,
  last_used_at: timestampOrNull(row.last_used_at_ms),
  last_used_ip: row.last_used_ip,
  expires_at: timestampOrNull(row.expires_at_ms),
  revoked_at: timestampOrNull(row.revoked_at_ms),
  exposed_at: timestampOrNull(row.exposed_at_ms),
  rotated_to: row.rotated_to,
  rotated_from: row.rotated_from,
});
