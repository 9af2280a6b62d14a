import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { stepsQuery } from "../../entities/run/diff-api.ts";
import type { DiffStep } from "../../entities/run/diff-types.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** The steps of a run by their numbers, read on until the last that is wanted is here. */
export function useSteps(run: Run, wanted: number): ReadonlyMap<number, DiffStep> {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery(stepsQuery(useWorkspace(), run));
  const steps = useMemo(() => data?.pages.flatMap((page) => page.steps) ?? [], [data]);
  const isShort = (steps.at(-1)?.step_index ?? -1) < wanted;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage]);
  return useMemo(() => new Map(steps.map((step) => [step.step_index, step])), [steps]);
}
