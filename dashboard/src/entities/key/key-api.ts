import { queryOptions } from "@tanstack/react-query";
import type { CreateKey as KeyOrder, RotateKey as RotationOrder } from "../../../../server/keys/schema.ts";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { post } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { type At, resource } from "../resource/resource.ts";

export const keyScopes = ["run", "read", "admin"] as const;
/** The answer to a creation or a rotation: the only one with the secret. */
export interface MadeKey extends ApiKey {
  secret: string;
  previous?: { id: string; status: ApiKey["status"]; expires_at: string };
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
