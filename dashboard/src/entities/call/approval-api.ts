import { queryOptions } from "@tanstack/react-query";
import type { Needs } from "../../../../server/core/run-event.ts";
import type { Approval, AnyRun as Run } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { get, query } from "../../lib/api.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";
import { runApi } from "../run/run-api.ts";

/** What the address of the inbox holds. */
export interface ApprovalsSearch extends PageSearch {
  needs?: Needs;
}

export const approvalApi = resource<Approval>("approvals");

/** A page of what waits, the longest waiting first. */
export const approvalsQuery = (at: At, { needs, ...page }: ApprovalsSearch) =>
  approvalApi.page(at, page, { order: "asc", needs });

/** The first of what waits, no more than so many; `every_ms`: read again. */
export const firstApprovalsQuery = (at: At, limit: number, every_ms: number) =>
  queryOptions({
    queryKey: approvalApi.key(at, "first", limit),
    queryFn: ({ signal }) => get<List<Approval>>(approvalApi.url(at) + query({ limit }), signal),
    refetchInterval: every_ms,
  });

/** The runs that wait, all in one request: whose calls these are. */
export function waitingRunsQuery(at: At) {
  return queryOptions({
    queryKey: approvalApi.key(at, "runs"),
    queryFn: ({ signal }) =>
      get<List<Run>>(runApi.url(at) + query({ limit: 100, order: "asc", status: "requires_action" }), signal),
  });
}
