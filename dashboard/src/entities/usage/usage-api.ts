import { queryOptions } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { List, PendingCall, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";

const every_ms = 15_000;
const day_ms = 86_400_000;
const mostFailures = 100;

/** What runs used, as `GET /v1/usage` counts it. */
export interface UsageCounts {
  runs: { started: number; completed: number; failed: number; cancelled: number };
  /** How long runs worked that completed or failed; null where there is none. */
  worked_ms: { p50: number | null; p95: number | null };
  model_calls: number;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  cost_usd: number;
  unknown_cost_calls: number;
  unknown_token_calls: number;
  estimated_calls: number;
}

export type DayUsage = UsageCounts & { day: string };
export type AgentUsage = UsageCounts & { agent_id: string };

/** A call that waits, with where it belongs. */
export interface WaitingCall extends PendingCall {
  run_id: string;
  created_at: string;
}

/** What was used on each of these days. */
export function dayUsageQuery(at: Workspace, days: readonly string[]) {
  const [from, to] = [days[0], days.at(-1)];
  return queryOptions({
    queryKey: ["usage", at.projectId, at.mode, "day", from, to],
    queryFn: ({ signal }) =>
      get<List<DayUsage>>(resourceUrl(at, `/usage${query({ from, to, group_by: "day" })}`), signal),
    refetchInterval: every_ms,
  });
}

/** What each agent used in these days, the dearest first. */
export function agentUsageQuery(at: Workspace, days: readonly string[]) {
  const [from, to] = [days[0], days.at(-1)];
  return queryOptions({
    queryKey: ["usage", at.projectId, at.mode, "agent", from, to],
    queryFn: ({ signal }) =>
      get<List<AgentUsage>>(resourceUrl(at, `/usage${query({ from, to, group_by: "agent" })}`), signal),
    refetchInterval: every_ms,
  });
}

/** What waits for somebody. */
export function waitingQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["approvals", at.projectId, at.mode, "overview"],
    queryFn: ({ signal }) => get<List<WaitingCall>>(resourceUrl(at, "/approvals?limit=5"), signal),
    refetchInterval: every_ms,
  });
}

/** A run, for its agent. */
export function runQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["run", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Run>(resourceUrl(at, `/runs/${encodeURIComponent(id)}`), signal),
  });
}

/** The runs that failed in the last 24 hours. */
export function failuresQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["runs", at.projectId, at.mode, "failures"],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - day_ms).toISOString();
      const values = { status: "failed", limit: mostFailures, "created_at[gte]": since };
      return get<List<Run>>(resourceUrl(at, `/runs${query(values)}`), signal);
    },
    refetchInterval: every_ms,
  });
}

/** Whether there is any run at all. */
export function anyRunQuery(at: Workspace, enabled: boolean) {
  return queryOptions({
    queryKey: ["runs", at.projectId, at.mode, "any"],
    queryFn: ({ signal }) => get<List<Run>>(resourceUrl(at, "/runs?limit=1"), signal),
    enabled,
  });
}
