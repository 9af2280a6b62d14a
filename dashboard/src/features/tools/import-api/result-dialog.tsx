import { Dialog as Base } from "@base-ui/react/dialog";
import { Link } from "@tanstack/react-router";
import type { ImportedOperation, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import { formatCount, joinFacts } from "../../../lib/format.ts";
import { Badge } from "../../../ui/data/badge.tsx";
import { DialogFoot, DialogShell } from "../../../ui/dialogs/dialog-shell.tsx";
import { ErrorNote } from "../../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../../ui/forms/button.tsx";
import { canImport } from "./operation-groups.ts";

/** The result of an import for each chosen operation. Those that failed come first. Others can be imported next. */
export function ResultDialog({
  result,
  isReading,
  error,
  onMore,
  onClose,
}: {
  result: ToolImport;
  /** True while the operations are read again. */
  isReading: boolean;
  error: Error | null;
  /** Goes back to the operations. */
  onMore: () => void;
  onClose: () => void;
}) {
  const chosen = result.operations.filter((each) => each.chosen);
  const failed = chosen.filter(({ outcome }) => outcome === null);
  const unchanged = chosen.filter(({ outcome }) => outcome === "unchanged").length;
  const done = chosen.filter(({ outcome }) => outcome !== null);
  const left = result.operations.filter((each) => !each.chosen && canImport(each)).length;
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <DialogShell wide>
        <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{`Imported from ${result.title || "the document"}`}</Base.Title>
        <Base.Description className="px-5 pt-0.5 text-muted">
          {joinFacts(
            `${formatCount(result.counts.created)} created`,
            `${formatCount(result.counts.updated)} updated`,
            `${formatCount(unchanged)} unchanged`,
            `${formatCount(failed.length)} failed`,
          )}
        </Base.Description>
        <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 pt-3 pb-5">
          <ErrorNote title="The operations cannot be shown" error={error} />
          <ul aria-label="Imported operations" className="rounded-md border border-line">
            {[...failed, ...done].map((each) => (
              <Outcome key={each.operation} operation={each} onClose={onClose} />
            ))}
          </ul>
          <p className="text-muted">An agent has only the tools that you attach to it.</p>
        </div>
        <DialogFoot>
          {left > 0 && (
            <Button disabled={isReading} onClick={onMore}>
              {isReading ? "Reading operations" : `Import others (${formatCount(left)})`}
            </Button>
          )}
          <Base.Close className={buttonClass({ kind: "primary" })}>Close</Base.Close>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}

function Outcome({
  operation: { operation, outcome, tool, tool_id, refusal },
  onClose,
}: {
  operation: ImportedOperation;
  onClose: () => void;
}) {
  return (
    <li className="flex min-h-11.5 items-center gap-2.5 border-b border-line-soft px-3 py-1 last:border-b-0">
      <span className="min-w-0 flex-1">
        {tool_id === null ? (
          <span className="cut block">{tool?.name ?? operation}</span>
        ) : (
          <Link
            to="/tools/$toolId"
            params={{ toolId: tool_id }}
            onClick={onClose}
            className="cut block w-fit max-w-full font-medium hover:underline"
          >
            {tool?.name ?? operation}
          </Link>
        )}
        <span className="block text-xs text-muted wrap-anywhere">{refusal ? refusal.message : operation}</span>
      </span>
      <Badge>{outcome ?? "failed"}</Badge>
    </li>
  );
}
