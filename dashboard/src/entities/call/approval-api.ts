import { queryOptions } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Needs, PendingCall, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** A call that waits for somebody, of whatever run. */
export interface Approval extends PendingCall {
  run_id: string;
  tool_id: string;
  created_at: string;
}

/** What the address of the inbox holds. */
export interface ApprovalsSearch extends PageSearch {
  needs?: Needs;
}

/** A page of what waits, the longest waiting first. */
export function approvalsQuery(at: Workspace, search: ApprovalsSearch) {
  const path = `/approvals${query({ limit: 50, order: "asc", needs: search.needs, ...pageQuery(search) })}`;
  return queryOptions({
    queryKey: ["approvals", at.projectId, at.mode, "list", search],
    queryFn: ({ signal }) => get<List<Approval>>(resourceUrl(at, path), signal),
  });
}

/** The runs that wait, all in one request: whose calls these are. */
export function waitingRunsQuery(at: Workspace) {
  const path = `/runs${query({ limit: 100, order: "asc", status: "requires_action" })}`;
  return queryOptions({
    queryKey: ["approvals", at.projectId, at.mode, "runs"],
    queryFn: ({ signal }) => get<List<Run>>(resourceUrl(at, path), signal),
  });
}

/** A run that is not among those. */
export function runOfCallQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["run", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Run>(resourceUrl(at, `/runs/${encodeURIComponent(id)}`), signal),
  });
}
