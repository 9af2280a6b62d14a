import { type Suite, suiteApi } from "../../entities/suite/suite-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { AddCases } from "./add-cases.tsx";
import { CreateSuite } from "./create-suite.tsx";
import { EditSuite } from "./edit-suite.tsx";
import { RunSuite } from "./run-suite.tsx";
import type { SuiteAct } from "./suite-acts.ts";

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
  const close = () => onAct(null);
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return <CreateSuite onClose={close} onCreated={onOpen} />;
    case "run":
      return <RunSuite suite={act.suite} onClose={close} onStarted={onOpen} />;
    case "add":
      return <AddCases suite={act.suite} onClose={close} />;
    case "edit":
      return <EditSuite suite={act.suite} onClose={close} />;
    case "delete":
      return <DeleteSuite suite={act.suite} onClose={close} onDeleted={onDeleted} />;
  }
}

function DeleteSuite({ suite, onClose, onDeleted }: { suite: Suite; onClose: () => void; onDeleted?: () => void }) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="suite"
      name={suite.name}
      remove={() => suiteApi.remove(at, suite.id)}
      stale={[suiteApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        What came of it goes with it, and a suite run that is under way ends. Its{" "}
        {suite.cases_count === 1 ? "run stays" : `${plural(suite.cases_count, "run")} stay`}, pinned by it no more. A
        build that runs this suite fails.
      </p>
    </DeleteDialog>
  );
}
