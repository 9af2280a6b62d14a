import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { keyApi } from "../../entities/key/key-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** Changes a key's name or end, and reads the list anew. */
export function useChangeKey(key: ApiKey, onChanged: (changed: ApiKey) => void) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: { name?: string; expires_at?: string | null }) => keyApi.change(at, key.id, change),
    onSuccess: async (changed) => {
      await client.invalidateQueries(keyApi.all(at));
      onChanged(changed);
    },
  });
}
