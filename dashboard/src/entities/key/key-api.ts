import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import type { Workspace } from "../../lib/workspace.ts";

export const keyScopes = ["run", "read", "admin"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** An API key, without its secret. */
export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  scopes: KeyScope[];
  environment: "test" | "live";
  status: "active" | "rotating" | "revoked" | "expired";
  agent_ids: string[] | null;
  allowed_cidrs: string[] | null;
  created_at: string;
  created_by: string;
  last_used_at: string | null;
  last_used_ip: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  exposed_at: string | null;
  rotated_to: string | null;
  rotated_from: string | null;
}

/** The answer to a creation or a rotation: the only one with the secret. */
export interface MadeKey extends ApiKey {
  secret: string;
  previous?: { id: string; status: ApiKey["status"]; expires_at: string };
}

/** What a new key is asked for. */
export interface KeyOrder {
  name: string;
  scopes: KeyScope[];
  expires_in_seconds?: number;
  agent_ids?: string[];
  allowed_cidrs?: string[];
}

/** How a key is rotated. */
export interface RotationOrder {
  overlap_seconds: number;
  expires_in_seconds?: number;
}

/** All keys, newest first: pairs of a rotation belong together, wherever each stands. */
export function keysQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["keys", at.projectId, at.mode],
    queryFn: async ({ signal }) => ({ keys: await getAll<ApiKey>(at, "/api_keys", {}, signal) }),
    // Who still uses an old key is what people wait for.
    refetchInterval: 10_000,
  });
}

/** One key, asked again and again until it was used. */
export function firstUseQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["key-use", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<ApiKey>(keyUrl(at, id), signal),
    refetchInterval: ({ state }) => (state.data?.last_used_at ? false : 1500),
  });
}

export const createKey = (at: Workspace, order: KeyOrder): Promise<MadeKey> =>
  post(resourceUrl(at, "/api_keys"), order);

export const rotateKey = (at: Workspace, id: string, order: RotationOrder): Promise<MadeKey> =>
  post(`${keyUrl(at, id)}/rotate`, order);

export const changeKey = (
  at: Workspace,
  id: string,
  change: { name?: string; expires_at?: string | null },
): Promise<ApiKey> => patch(keyUrl(at, id), change);

export const revokeKey = (at: Workspace, id: string): Promise<unknown> => remove(keyUrl(at, id));

const keyUrl = (at: Workspace, id: string): string => resourceUrl(at, `/api_keys/${encodeURIComponent(id)}`);
