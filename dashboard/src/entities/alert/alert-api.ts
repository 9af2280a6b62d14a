import type { Alert } from "../../../../server/domain/api-types/alert.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

/** Active alerts of this project and of the server, newest first. */
export const alertsQuery = (at: WorkspaceKey) => ({
  queryKey: ["alerts", at.projectId, at.mode],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await get<{ data: Alert[] }>(resourceUrl(at, "/alerts"), signal)).data,
  refetchInterval: 60_000,
});
