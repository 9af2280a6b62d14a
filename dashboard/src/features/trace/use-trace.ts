import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { RunStatus } from "../../../../server/core/run-state.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import { traceQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/**
 * A run's trace. A long one comes page by page: what is here is shown while the rest is on its way. Of a run that is
 * over by now its end is read too, whoever told of it first.
 */
export function useTrace(id: string, status: RunStatus | undefined) {
  const found = useQuery(traceQuery(useWorkspace(), id));
  const { data, error, isFetching, refetch } = found;
  const isBehind = data && status && isOver(status) && !isOver(data.trace.status);
  const readOn = (data?.hasMore || isBehind) && !isFetching && !error;
  useEffect(() => {
    if (readOn) void refetch();
  }, [readOn, refetch]);
  return found;
}
