import { useQuery } from "@tanstack/react-query";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { addCases, type Suite, suiteApi, suiteQuery } from "../../entities/suite/suite-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { ChooseRuns, chosenRuns, noChoice } from "./choose-runs.tsx";

/** Adds more runs to a suite. */
export function AddCases({ suite, onClose }: { suite: Suite; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const { data } = useQuery(suiteQuery(at, suite.id));
  const pinned = new Set(data?.cases.map(({ run_id }) => run_id));
  const freshOf = (choice: typeof noChoice) => chosenRuns(choice).ids.filter((id) => !pinned.has(id));
  const form = useForm({
    first: { add_run_ids: noChoice },
    send: ({ add_run_ids }) => addCases(at, suite.id, freshOf(add_run_ids)),
    onSent: async ({ name }, { add_run_ids }) => {
      toast(`${plural(freshOf(add_run_ids).length, "case")} added`, name);
      onClose();
      await refresh();
    },
  });
  const choice = form.draft.add_run_ids;
  const { ids, fault } = chosenRuns(choice);
  const fresh = freshOf(choice);
  const already = ids.length > 0 && fresh.length === 0 ? "The suite already has them." : null;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title={`Add cases to ${suite.name}`}
      act={fresh.length > 0 ? `Add ${plural(fresh.length, "case")}` : "Add cases"}
      acting="Adding"
      ready={fresh.length > 0 && fault === null}
      failed="No case was added"
    >
      <ChooseRuns
        choice={choice}
        pinned={pinned}
        error={form.fieldErrors.add_run_ids ?? already}
        onChange={(add_run_ids) => form.set({ add_run_ids })}
      />
    </FormDialog>
  );
}
