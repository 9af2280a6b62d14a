import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Both } from "../../../../server/core/diff.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { Diff as DiffPage, DiffStep, TraceStep } from "../../../../server/wire/trace.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";
import { runApi, runQuery } from "./run-api.ts";

const pageSize = 100;
/** How often a run that is not over is looked at again. */
const again_ms = 2000;

/** One of the two runs; read again while it is not over. */
export const comparedRunQuery = (at: At, id: string) =>
  queryOptions({
    ...runQuery(at, id),
    refetchInterval: ({ state }) => (state.data && !isOver(state.data.status) ? again_ms : false),
  });

/** The comparison of two runs, page by page. */
export function diffQuery(at: At, a: Run, b: Run) {
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

/** The steps of one of them, page by page. */
export function stepsQuery(at: At, { id, status }: Run) {
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

export type Side = keyof Both<unknown>;
export type Change = DiffStep["change"];
