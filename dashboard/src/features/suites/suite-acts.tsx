import { Pencil, Plus, Trash2 } from "lucide-react";
import { type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActsMenu } from "../../ui/acts-menu.tsx";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { AddCases } from "./add-cases.tsx";
import { CreateSuite } from "./create-suite.tsx";
import { EditSuite } from "./edit-suite.tsx";
import { RunSuite } from "./run-suite.tsx";

/** What is being done to a suite, in its dialog. */
export type SuiteAct = { kind: "create" } | { kind: "run" | "add" | "edit" | "delete"; suite: Suite };

/** All that can be done with a suite, but for running it. */
export function SuiteMenu({ suite, onAct }: { suite: Suite; onAct: (act: SuiteAct) => void }) {
  return (
    <ActsMenu
      of={suite.name}
      acts={[
        { icon: Plus, word: "Add cases", onDo: () => onAct({ kind: "add", suite }) },
        { icon: Pencil, word: "Edit suite", onDo: () => onAct({ kind: "edit", suite }) },
        { icon: Trash2, word: "Delete suite", danger: true, onDo: () => onAct({ kind: "delete", suite }) },
      ]}
    />
  );
}

/** The dialog of what is being done to a suite. */
export function SuiteDialogs({
  act,
  onAct,
  onOpen,
  onDeleted,
}: {
  act: SuiteAct | null;
  onAct: (act: SuiteAct | null) => void;
  /** Shows a suite, and what last came of it. */
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
