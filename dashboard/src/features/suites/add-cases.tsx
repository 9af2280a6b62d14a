import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { addCases, type Suite, suiteApi, suiteQuery } from "../../entities/suite/suite-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { plural } from "../../lib/format.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { ChooseRuns, chosenRuns, noChoice, type RunChoice } from "./choose-runs.tsx";

/** Pins more runs by a suite. */
export function AddCases({ suite, onClose }: { suite: Suite; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const { data } = useQuery(suiteQuery(at, suite.id));
  const pinned = new Set(data?.cases.map(({ run_id }) => run_id));
  const [choice, setChoice] = useState<RunChoice>(noChoice);
  const { ids, fault } = chosenRuns(choice);
  const fresh = ids.filter((id) => !pinned.has(id));
  const adding = useMutation({
    mutationFn: () => addCases(at, suite.id, fresh),
    onSuccess: async ({ name }) => {
      toast(`${plural(fresh.length, "case")} added`, name);
      onClose();
      await refresh();
    },
  });
  const said = faultOf(adding.error, "add_run_ids");
  const already = ids.length > 0 && fresh.length === 0 ? "The suite has them already." : null;
  const unsaved = useChanged([[...choice.marked], choice.typed]) && !adding.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      wide
      title={`Add cases to ${suite.name}`}
      act={adding.isPending ? "Adding" : fresh.length > 0 ? `Add ${plural(fresh.length, "case")}` : "Add cases"}
      busy={adding.isPending || fresh.length === 0 || fault !== null}
      onSubmit={() => adding.mutate()}
    >
      <ChooseRuns choice={choice} pinned={pinned} error={said ?? already} onChange={setChoice} />
      {adding.error && !said && <ErrorNote title="No case was added" error={adding.error} />}
    </FormDialog>
  );
}
