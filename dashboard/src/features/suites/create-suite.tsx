import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { suiteApi } from "../../entities/suite/suite-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { ChooseRuns, chosenRuns, noChoice } from "./choose-runs.tsx";
import { SuiteFields } from "./suite-fields.tsx";

const first = { name: "", description: "", run_ids: noChoice };

const bodyOf = ({ name, description, run_ids }: typeof first) => ({
  name: name.trim(),
  ...(description.trim() && { description: description.trim() }),
  run_ids: chosenRuns(run_ids).ids,
});

/** Creates a suite of chosen runs. */
export function CreateSuite({ onClose, onCreated }: { onClose: () => void; onCreated: (suiteId: string) => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const form = useForm({
    first,
    send: (draft) => suiteApi.create(at, bodyOf(draft)),
    onSent: async ({ id, name }) => {
      toast("Suite created", name);
      onClose();
      onCreated(id);
      await refresh();
    },
  });
  const { draft, fieldErrors, set } = form;
  const { ids, fault } = chosenRuns(draft.run_ids);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title="Create suite"
      about="A suite keeps its runs regardless of retention and shows which results would change."
      act={ids.length > 0 ? `Create suite of ${plural(ids.length, "case")}` : "Create suite"}
      acting="Creating"
      ready={draft.name.trim() !== "" && ids.length > 0 && fault === null}
      failed="The suite was not created"
      request={{ method: "POST", path: "/v1/suites", body: bodyOf(draft) }}
    >
      <SuiteFields text={form.text} />
      <ChooseRuns choice={draft.run_ids} error={fieldErrors.run_ids} onChange={(run_ids) => set({ run_ids })} />
    </FormDialog>
  );
}
