import { Pencil, Plus, Trash2 } from "lucide-react";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { AddCases } from "./add-cases.tsx";
import { CreateSuite } from "./create-suite.tsx";
import { RunSuite } from "./run-suite.tsx";
import { SuiteFields } from "./suite-fields.tsx";

/** Open dialog of a suite. */
export type SuiteAct = { kind: "create" } | { kind: "run" | "add" | "edit" | "delete"; suite: Suite };

/** Menu of a suite's actions except running it. */
export function SuiteMenu({ suite, onAct }: { suite: Suite; onAct: (act: SuiteAct) => void }) {
  return (
    <ActionsMenu
      of={suite.name}
      acts={[
        { icon: Plus, word: "Add cases", onDo: () => onAct({ kind: "add", suite }) },
        { icon: Pencil, word: "Edit suite", onDo: () => onAct({ kind: "edit", suite }) },
        { icon: Trash2, word: "Delete suite", danger: true, onDo: () => onAct({ kind: "delete", suite }) },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
export function SuiteDialogs({
  act,
  onAct,
  onOpen,
  onDeleted,
}: {
  act: SuiteAct | null;
  onAct: (act: SuiteAct | null) => void;
  /** Opens a suite with its last result. */
  onOpen: (suiteId: string) => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  const close = () => onAct(null);
  if (!act) return null;
  if (act.kind === "create") return <CreateSuite onClose={close} onCreated={onOpen} />;
  const { kind, suite } = act;
  if (kind === "run") return <RunSuite suite={suite} onClose={close} onStarted={onOpen} />;
  if (kind === "add") return <AddCases suite={suite} onClose={close} />;
  if (kind === "edit") return <EditSuite suite={suite} onClose={close} />;
  return (
    <DeleteDialog
      noun="suite"
      name={suite.name}
      remove={() => suiteApi.remove(at, suite.id)}
      stale={[suiteApi.all(at)]}
      onClose={close}
      onDeleted={onDeleted}
    >
      Its results are deleted, and a suite run in progress ends. Its{" "}
      {suite.cases_count === 1 ? "run is" : `${plural(suite.cases_count, "run")} are`} kept until their retention ends.
      CI jobs that run this suite fail.
    </DeleteDialog>
  );
}

const bodyOf = ({ name, description }: { name: string; description: string }) => ({
  name: name.trim(),
  description: description.trim() || null,
});

/** Edits a suite's name and description. */
function EditSuite({ suite, onClose }: { suite: Suite; onClose: () => void }) {
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
