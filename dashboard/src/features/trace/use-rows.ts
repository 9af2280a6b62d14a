import { useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { type LoadedTrace, traceQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import type { Row } from "./row.ts";
import { ancestorsOf, rowsOf } from "./rows.ts";

/** Maximum number of subagent runs that `all` expands. */
const openedAtOnce = 24;

/**
 * Rows of a run with its expanded subagent runs. `wanted` expands its ancestors; `all` expands subagent runs as they
 * appear, up to a limit.
 */
export function useRows(run: Run, loaded: LoadedTrace, name: string, wanted: string | undefined, all: boolean) {
  const [open, setOpen] = useState<ReadonlyMap<string, string>>(() => new Map([["run", run.id]]));
  const ids = useMemo(() => [...new Set(open.values())].filter((id) => id !== run.id), [open, run.id]);
  const children = useChildren(ids);
  const rows = useMemo(
    () => rowsOf({ root: loaded, name, children, open: new Set(open.keys()) }),
    [loaded, name, children, open],
  );
  const toggle = useCallback((row: Row, to: boolean) => {
    const childRunId = row.kind === "run" ? row.runId : row.step?.subagent?.run_id;
    if (!childRunId) return;
    setOpen((held) => {
      const next = new Map(held);
      if (to) next.set(row.key, childRunId);
      else next.delete(row.key);
      return next;
    });
  }, []);
  const closed = wanted === undefined ? undefined : closedAncestor(rows, wanted);
  useEffect(() => {
    if (closed) toggle(closed, true);
  }, [closed, toggle]);
  const expandedKeys = useRef(new Set<string>());
  useEffect(() => {
    if (!all) return;
    for (const row of rows) {
      if (!row.step?.subagent || expandedKeys.current.has(row.key)) continue;
      if (expandedKeys.current.size >= openedAtOnce) return;
      expandedKeys.current.add(row.key); // Expand only once, so that a row the person collapses stays collapsed.
      if (!row.open) toggle(row, true);
    }
  }, [all, rows, toggle]);
  return { rows, toggle };
}

/** First loaded but collapsed ancestor of a nested row. */
function closedAncestor(rows: readonly Row[], wanted: string): Row | undefined {
  if (rows.some(({ key }) => key === wanted)) return undefined;
  const ancestorKeys = ancestorsOf(wanted);
  return rows.find((row) => ancestorKeys.includes(row.key) && row.opens && !row.open);
}

const again_ms = 1000;
const nextPage_ms = 20;

/** Traces of the expanded subagent runs. */
function useChildren(ids: readonly string[]): ReadonlyMap<string, LoadedTrace> {
  const at = useWorkspace();
  const traces = useQueries({
    queries: ids.map((id) => ({
      ...traceQuery(at, id),
      retry: false,
      refetchInterval: ({ state: { data, error } }: { state: { data?: LoadedTrace; error: Error | null } }) => {
        if (error) return false as const;
        if (data?.hasMore) return nextPage_ms;
        return data && data.trace.completed_at === null ? again_ms : (false as const);
      },
    })),
    combine: dataOf<LoadedTrace>,
  });
  return useMemo(() => {
    const found = new Map<string, LoadedTrace>();
    for (const [index, id] of ids.entries()) {
      const trace = traces[index];
      if (trace) found.set(id, trace);
    }
    return found;
  }, [ids, traces]);
}

/** Selects only the data, so that a refetch without changes does not render. */
function dataOf<T>(results: { data: T | undefined }[]): (T | undefined)[] {
  return results.map(({ data }) => data);
}
