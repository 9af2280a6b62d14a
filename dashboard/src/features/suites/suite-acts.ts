import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { PinnedRun as PinnedCase } from "../../../../server/wire/suite.ts";
import { cancelSuiteRun, removeCase, type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/toast.ts";

/** What is being done to a suite, in its dialog. */
export type SuiteAct = { kind: "create" } | { kind: "run" | "add" | "edit" | "delete"; suite: Suite };

/** Reads all that tells of suites anew. */
export function useRefreshSuites(): () => Promise<void> {
  const client = useQueryClient();
  const at = useWorkspace();
  return () => client.invalidateQueries(suiteApi.all(at));
}

/** Ends a suite run where it is. */
export function useCancelSuiteRun(suiteId: string) {
  const at = useWorkspace();
  const refresh = useRefreshSuites();
  return useMutation({
    mutationFn: (suiteRunId: string) => cancelSuiteRun(at, suiteId, suiteRunId),
    onSuccess: async () => {
      toast("Suite run cancelled");
      await refresh();
    },
  });
}

/** Takes a case out of a suite; its run stays. */
export function useRemoveCase(suiteId: string, onRemoved: (runId: string) => void) {
  const at = useWorkspace();
  const refresh = useRefreshSuites();
  return useMutation({
    mutationFn: ({ run_id }: Pick<PinnedCase, "run_id">) => removeCase(at, suiteId, run_id),
    onSuccess: async (_, { run_id }) => {
      toast("Case removed", "Its run is pinned no more.");
      onRemoved(run_id);
      await refresh();
    },
  });
}
