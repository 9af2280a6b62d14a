import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { SuiteFields } from "./suite-fields.tsx";

const bodyOf = ({ name, description }: { name: string; description: string }) => ({
  name: name.trim(),
  description: description.trim() || null,
});

/** Edits a suite's name and description. */
export function EditSuite({ suite, onClose }: { suite: Suite; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const form = useForm({
    first: { name: suite.name, description: suite.description ?? "" },
    send: (draft) => suiteApi.change(at, suite.id, bodyOf(draft)),
    onSent: async ({ name }) => {
      toast("Suite saved", name);
      onClose();
      await refresh();
    },
  });
  const body = bodyOf(form.draft);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Edit suite"
      about="CI that refers to it by name needs the new name. The id stays the same."
      act="Save suite"
      acting="Saving"
      ready={body.name !== ""}
      failed="The suite was not saved"
      request={{ method: "PATCH", path: `/v1/suites/${suite.id}`, body }}
    >
      <SuiteFields text={form.text} />
    </FormDialog>
  );
}
