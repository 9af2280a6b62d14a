import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { SuiteFields } from "./suite-fields.tsx";

/** Gives a suite another name, or other words about it. */
export function EditSuite({ suite, onClose }: { suite: Suite; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const [draft, setDraft] = useState({ name: suite.name, description: suite.description ?? "" });
  const body = { name: draft.name.trim(), description: draft.description.trim() || null };
  const change = useMutation({
    mutationFn: () => suiteApi.change(at, suite.id, body),
    onSuccess: async ({ name }) => {
      toast("Suite saved", name);
      onClose();
      await refresh();
    },
  });
  const isFieldFault = faultOf(change.error, "name") !== null;
  const unsaved = useChanged(draft) && !change.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title="Edit suite"
      about="Builds that run it by its name need the new one. Its id stays."
      act={change.isPending ? "Saving" : "Save suite"}
      busy={change.isPending || body.name === ""}
      onSubmit={() => change.mutate()}
    >
      <SuiteFields draft={draft} error={change.error} onChange={(part) => setDraft({ ...draft, ...part })} />
      {change.error && !isFieldFault && <ErrorNote title="The suite was not saved" error={change.error} />}
      <FoldedCode name="edit suite" request={{ method: "PATCH", path: `/v1/suites/${suite.id}`, body }} />
    </FormDialog>
  );
}
