import type { Alert } from "../../../../server/wire/alert.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";

/** What is not well here, and of the whole server; the newest first. */
export const alertsQuery = (at: At) => ({
  queryKey: ["alerts", at.projectId, at.mode],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await get<{ data: Alert[] }>(resourceUrl(at, "/alerts"), signal)).data,
  refetchInterval: 60_000,
});
