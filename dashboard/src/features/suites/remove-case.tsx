import type { Suite as SuiteWithCases } from "../../../../server/wire/suite.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import type { JoinedCase } from "./join-cases.ts";
import { useRemoveCase } from "./suite-acts.ts";

/** Takes a case out of a suite, after saying what that does. */
export function RemoveCase({
  suite,
  removed,
  onClose,
  onRemoved,
}: {
  suite: SuiteWithCases;
  removed: JoinedCase;
  onClose: () => void;
  onRemoved: () => void;
}) {
  const agent = useAgentName(removed.agent_id);
  const removal = useRemoveCase(suite.id, onRemoved);
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Remove case"
      act={removal.isPending ? "Removing" : "Remove case"}
      keep="Keep it"
      busy={removal.isPending}
      onConfirm={() => removal.mutate(removed)}
    >
      <p className="wrap-anywhere">
        {suite.name} does not look at this run of {agent} any more. The run stays, but retention may delete it.
      </p>
      {removal.error && (
        <div className="mt-3">
          <ErrorNote title="The case was not removed" error={removal.error} />
        </div>
      )}
    </ConfirmDialog>
  );
}
