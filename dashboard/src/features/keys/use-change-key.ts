import { useQueryClient } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { keyApi } from "../../entities/key/key-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** Returns a function that changes a key's name or expiry and refetches the list. */
export function useChangeKey(key: ApiKey) {
  const at = useWorkspace();
  const client = useQueryClient();
  return async (change: { name?: string; expires_at?: string | null }): Promise<ApiKey> => {
    const changed = await keyApi.change(at, key.id, change);
    await client.invalidateQueries(keyApi.all(at));
    return changed;
  };
}
