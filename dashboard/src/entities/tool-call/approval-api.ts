import { queryOptions } from "@tanstack/react-query";
import type { Approval, AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { AnswerableNeeds } from "../../../../server/domain/run-event.ts";
import { get, query } from "../../lib/api.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import { runApi } from "../run/run-api.ts";

/** Search parameters of the inbox. */
export interface ApprovalsSearch extends PageSearch {
  needs?: AnswerableNeeds;
}

export const approvalApi = resource<Approval>("approvals");

/** A page of pending calls, longest waiting first. */
export const approvalsQuery = (at: WorkspaceKey, { needs, ...page }: ApprovalsSearch) =>
  approvalApi.page(at, page, { order: "asc", needs });

/** First pending calls, refetched every `every_ms` milliseconds. */
export const firstApprovalsQuery = (at: WorkspaceKey, limit: number, every_ms: number) =>
  queryOptions({
    queryKey: approvalApi.key(at, "first", limit),
    queryFn: ({ signal }) => get<List<Approval>>(approvalApi.url(at) + query({ limit }), signal),
    refetchInterval: every_ms,
  });

/** Runs of the pending calls, in one request. */
export function waitingRunsQuery(at: WorkspaceKey) {
  return queryOptions({
    queryKey: approvalApi.key(at, "runs"),
    queryFn: ({ signal }) =>
      get<List<Run>>(runApi.url(at) + query({ limit: 100, order: "asc", status: "requires_action" }), signal),
  });
}
