import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { isOver, type List, type Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { DiffPage, DiffStep } from "./diff-types.ts";

type At = Pick<Workspace, "projectId" | "mode">;

const pageSize = 100;
/** How often a run that is not over is looked at again. */
const again_ms = 2000;

/** One of the two runs. */
export function comparedRunQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["run", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Run>(resourceUrl(at, `/runs/${encodeURIComponent(id)}`), signal),
    refetchInterval: ({ state }) => (state.data && !isOver(state.data.status) ? again_ms : false),
  });
}

/** The comparison of two runs, page by page. */
export function diffQuery(at: At, a: Run, b: Run) {
  return infiniteQueryOptions({
    queryKey: ["diff", at.projectId, at.mode, a.id, b.id, a.status, b.status],
    queryFn: ({ pageParam, signal }) => {
      const values = query({ limit: pageSize, starting_after: pageParam ?? undefined });
      const path = `/runs/${encodeURIComponent(a.id)}/diff/${encodeURIComponent(b.id)}${values}`;
      return get<DiffPage>(resourceUrl(at, path), signal);
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ steps, steps_has_more }) => (steps_has_more ? (steps.at(-1)?.index ?? null) : null),
  });
}

/** The steps of one of them, page by page. */
export function stepsQuery(at: At, { id, status }: Run) {
  return infiniteQueryOptions({
    queryKey: ["diff-steps", at.projectId, at.mode, id, status],
    queryFn: ({ pageParam, signal }) => {
      const values = query({ limit: pageSize, starting_after: pageParam ?? undefined });
      const path = `/traces/${encodeURIComponent(id)}${values}`;
      return get<{ steps: DiffStep[]; steps_has_more: boolean }>(resourceUrl(at, path), signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ steps, steps_has_more }) => (steps_has_more ? (steps.at(-1)?.id ?? null) : null),
  });
}

/** Runs of the same agent, the newest first: what a run is most often compared with. */
export function siblingRunsQuery(at: At, agentId: string) {
  return queryOptions({
    queryKey: ["sibling-runs", at.projectId, at.mode, agentId],
    queryFn: ({ signal }) => get<List<Run>>(resourceUrl(at, `/runs${query({ agent_id: agentId, limit: 20 })}`), signal),
  });
}
