import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { keyApi } from "../../entities/key/key-api.ts";

import { useWorkspace } from "../../lib/workspace.ts";

const maxTimeout_ms = 2 ** 31 - 1;

/** Refetches the list when the next overlap ends. Returns an announcement of the last overlap that ended. */
export function useOverlapEnds(keys: readonly ApiKey[] | undefined): string {
  const at = useWorkspace();
  const client = useQueryClient();
  const [announcement, setSaid] = useState("");
  const next = keys
    ?.filter(({ status, revoked_at }) => status === "rotating" && !revoked_at)
    .sort((one, other) => ((one.expires_at ?? "") < (other.expires_at ?? "") ? -1 : 1))[0];
  const [id, end, words] = [next?.id, next?.expires_at, next && `The overlap of ${next.name} ended.`];
  useEffect(() => {
    if (!id || !end || !words) return;
    const remaining_ms = Date.parse(end) - Date.now();
    if (remaining_ms > maxTimeout_ms) return;
    const timer = setTimeout(() => {
      setSaid(words);
      void client.invalidateQueries(keyApi.all(at));
    }, Math.max(remaining_ms, 0) + 500);
    return () => clearTimeout(timer);
  }, [id, end, words, client, at]);
  return announcement;
}
