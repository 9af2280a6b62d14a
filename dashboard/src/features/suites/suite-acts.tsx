import { Pencil, Plus, Trash2 } from "lucide-react";
import { type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { AddCases } from "./add-cases.tsx";
import { CreateSuite } from "./create-suite.tsx";
import { EditSuite } from "./edit-suite.tsx";
import { RunSuite } from "./run-suite.tsx";

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
