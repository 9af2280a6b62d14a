import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { faultOf } from "../../lib/fault-of.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import type { Suite } from "./fns/suite-types.ts";
import { useRefreshSuites } from "./suite-acts.ts";
import { SuiteFields } from "./suite-fields.tsx";
import { changeSuite } from "./suites-api.ts";

/** Gives a suite another name, or other words about it. */
export function EditSuite({ suite, onClose }: { suite: Suite; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefreshSuites();
  const [draft, setDraft] = useState({ name: suite.name, description: suite.description ?? "" });
  const body = { name: draft.name.trim(), description: draft.description.trim() || null };
  const change = useMutation({
    mutationFn: () => changeSuite(at, suite.id, body),
    onSuccess: async ({ name }) => {
      toast("Suite renamed", name);
      onClose();
      await refresh();
    },
  });
  const isFieldFault = faultOf(change.error, "name") !== null;
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Rename suite"
      about="Builds that run it by its name need the new one. Its id stays."
      act={change.isPending ? "Saving" : "Rename suite"}
      busy={change.isPending || body.name === ""}
      onSubmit={() => change.mutate()}
    >
      <SuiteFields draft={draft} error={change.error} onChange={(part) => setDraft({ ...draft, ...part })} />
      {change.error && !isFieldFault && <ErrorNote title="The suite was not renamed" error={change.error} />}
      <FoldedCode name="rename" request={{ method: "PATCH", path: `/v1/suites/${suite.id}`, body }} />
    </FormDialog>
  );
}
