import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Diff as DiffPage, DiffStep, TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Sides } from "../../../../server/domain/diff.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { runApi, runQuery } from "./run-api.ts";

const pageSize = 100;
/** Milliseconds between polls of an unfinished run. */
const again_ms = 2000;

/** One of the two runs; polled until it ends. */
export const comparedRunQuery = (at: WorkspaceKey, id: string) =>
  queryOptions({
    ...runQuery(at, id),
    refetchInterval: ({ state }) => (state.data && !isOver(state.data.status) ? again_ms : false),
  });

/** Comparison of two runs, paginated. */
export function diffQuery(at: WorkspaceKey, a: Run, b: Run) {
  return infiniteQueryOptions({
    queryKey: runApi.key(at, "diff", a.id, b.id, a.status, b.status),
    queryFn: ({ pageParam, signal }) => {
      const values = query({ limit: pageSize, starting_after: pageParam ?? undefined });
      const path = `/runs/${encodeURIComponent(a.id)}/diff/${encodeURIComponent(b.id)}${values}`;
      return get<DiffPage>(resourceUrl(at, path), signal);
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ steps, steps_has_more }) => (steps_has_more ? (steps.at(-1)?.index ?? null) : null),
  });
}

/** Steps of one of the runs, paginated. */
export function stepsQuery(at: WorkspaceKey, { id, status }: Run) {
  return infiniteQueryOptions({
    queryKey: runApi.key(at, "diff-steps", id, status),
    queryFn: ({ pageParam, signal }) => {
      const values = query({ limit: pageSize, starting_after: pageParam ?? undefined });
      const path = `/traces/${encodeURIComponent(id)}${values}`;
      return get<{ steps: TraceStep[]; steps_has_more: boolean }>(resourceUrl(at, path), signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ steps, steps_has_more }) => (steps_has_more ? (steps.at(-1)?.id ?? null) : null),
  });
}

export type Side = keyof Sides<unknown>;
export type Change = DiffStep["change"];
