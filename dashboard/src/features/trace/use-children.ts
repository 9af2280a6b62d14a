import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { traceQuery } from "../../entities/run/trace-api.ts";
import type { LoadedTrace } from "../../entities/run/trace-types.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import type { RunSteps } from "./rows.ts";

const again_ms = 1000;
const nextPage_ms = 20;

/** The traces of the runs that agents' calls started, as far as they were opened. */
export function useChildren(ids: readonly string[]): ReadonlyMap<string, RunSteps> {
  const at = useWorkspace();
  const traces = useQueries({
    queries: ids.map((id) => ({
      ...traceQuery(at, id),
      retry: false,
      refetchInterval: ({ state: { data, error } }: { state: { data?: LoadedTrace; error: Error | null } }) => {
        if (error) return false as const;
        if (data?.hasMore) return nextPage_ms;
        return data && data.trace.ended_at === null ? again_ms : (false as const);
      },
    })),
    combine: dataOf<LoadedTrace>,
  });
  const runs = useQueries({
    queries: ids.map((id) => ({ ...runQuery(at, id), retry: false })),
    combine: dataOf<Run>,
  });
  return useMemo(() => {
    const found = new Map<string, RunSteps>();
    for (const [index, id] of ids.entries()) {
      const trace = traces[index];
      if (trace) found.set(id, { ...trace, run: runs[index] });
    }
    return found;
  }, [ids, traces, runs]);
}

/** Only what was found: so nothing is drawn anew while it is merely asked for again. */
function dataOf<T>(results: { data: T | undefined }[]): (T | undefined)[] {
  return results.map(({ data }) => data);
}
