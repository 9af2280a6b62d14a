import { queryOptions } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import type { CreateKey as KeyOrder, RotateKey as RotationOrder } from "../../../../server/resources/keys/schema.ts";
import { post } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";

export const keyScopes = ["run", "read", "admin"] as const;
/** Response of a creation or rotation, the only one that contains the secret. */
export interface KeyWithSecret extends ApiKey {
  secret: string;
  previous?: { id: string; status: ApiKey["status"]; expires_at: string };
}

export const keyApi = resource<ApiKey, ApiKey, KeyOrder & { expires_at?: string | null }, KeyWithSecret>("api_keys");

/** All keys, newest first. Not paginated, because the two keys of a rotation may be far apart. */
export function keysQuery(at: WorkspaceKey) {
  return queryOptions({
    queryKey: keyApi.key(at, "pairs"),
    queryFn: async ({ signal }) => ({ keys: await getAll<ApiKey>(at, "/api_keys", {}, signal) }),
    // Refreshes the last use: people wait until an old key is no longer used.
    refetchInterval: 10_000,
  });
}

/** One key, polled until its first use. */
export const firstUseQuery = (at: WorkspaceKey, id: string) =>
  queryOptions({
    ...keyApi.one(at, id),
    refetchInterval: ({ state }) => (state.data?.last_used_at ? false : 1500),
  });

export const rotateKey = (at: WorkspaceKey, id: string, order: RotationOrder): Promise<KeyWithSecret> =>
  post(keyApi.url(at, id, "/rotate"), order);
