import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { suiteApi } from "../../entities/suite/suite-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { plural } from "../../lib/format.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { ChooseRuns, chosenRuns, noChoice, type RunChoice } from "./choose-runs.tsx";
import { SuiteFields } from "./suite-fields.tsx";

/** Makes a suite of runs that are chosen here. */
export function CreateSuite({ onClose, onCreated }: { onClose: () => void; onCreated: (suiteId: string) => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const [draft, setDraft] = useState({ name: "", description: "" });
  const [choice, setChoice] = useState<RunChoice>(noChoice);
  const { ids, fault } = chosenRuns(choice);
  const description = draft.description.trim();
  const body = { name: draft.name.trim(), ...(description && { description }), run_ids: ids };
  const creation = useMutation({
    mutationFn: () => suiteApi.create(at, body),
    onSuccess: async ({ id, name }) => {
      toast("Suite created", name);
      onClose();
      onCreated(id);
      await refresh();
    },
  });
  const isReady = body.name !== "" && ids.length > 0 && fault === null;
  const isFieldFault = faultOf(creation.error, "name") !== null || faultOf(creation.error, "run_ids") !== null;
  const unsaved = useChanged([draft, [...choice.marked], choice.typed]) && !creation.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      wide
      title="Create suite"
      about="It keeps its runs, whatever the retention, and tells which would come out otherwise."
      act={
        creation.isPending
          ? "Creating"
          : ids.length > 0
            ? `Create suite of ${plural(ids.length, "case")}`
            : "Create suite"
      }
      busy={creation.isPending || !isReady}
      onSubmit={() => creation.mutate()}
    >
      <SuiteFields draft={draft} error={creation.error} onChange={(part) => setDraft({ ...draft, ...part })} />
      <ChooseRuns choice={choice} error={faultOf(creation.error, "run_ids")} onChange={setChoice} />
      {creation.error && !isFieldFault && <ErrorNote title="The suite was not created" error={creation.error} />}
      <FoldedCode name="create suite" request={{ method: "POST", path: "/v1/suites", body }} />
    </FormDialog>
  );
}
