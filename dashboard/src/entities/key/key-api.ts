import { queryOptions } from "@tanstack/react-query";
import { post } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { type At, resource } from "../resource/resource.ts";

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

export const keyApi = resource<ApiKey, ApiKey, KeyOrder & { expires_at?: string | null }, MadeKey>("api_keys");

/** All keys, newest first: pairs of a rotation belong together, wherever each stands. */
export function keysQuery(at: At) {
  return queryOptions({
    queryKey: keyApi.key(at, "pairs"),
    queryFn: async ({ signal }) => ({ keys: await getAll<ApiKey>(at, "/api_keys", {}, signal) }),
    // Who still uses an old key is what people wait for.
    refetchInterval: 10_000,
  });
}

/** One key, asked again and again until it was used. */
export const firstUseQuery = (at: At, id: string) =>
  queryOptions({
    ...keyApi.one(at, id),
    refetchInterval: ({ state }) => (state.data?.last_used_at ? false : 1500),
  });

export const rotateKey = (at: At, id: string, order: RotationOrder): Promise<MadeKey> =>
  post(keyApi.url(at, id, "/rotate"), order);
