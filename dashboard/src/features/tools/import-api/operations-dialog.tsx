import { Dialog as Base } from "@base-ui/react/dialog";
import { useId, useState } from "react";
import { importLimits } from "../../../../../server/domain/openapi-import.ts";
import type { ImportedOperation, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import { ApiError } from "../../../lib/api.ts";
import { formatCount, joinFacts, plural } from "../../../lib/format.ts";
import { DialogFoot, DialogShell } from "../../../ui/dialogs/dialog-shell.tsx";
import { Callout } from "../../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../../ui/forms/chip.tsx";
import { SearchField } from "../../../ui/forms/search-field.tsx";
import { canImport, groupsOf, openOperations, rowsOf } from "./operation-groups.ts";
import { Mark, OperationRows } from "./operation-rows.tsx";

const differenceWords: Record<ImportedOperation["difference"], string> = {
  added: "New",
  changed: "Changed",
  unchanged: "Unchanged",
  refused: "Not possible",
};

const namesMost = 5;

const hasChanged = (error: Error | null): boolean => error instanceof ApiError && error.code === "document_changed";

/** Operations of a document: what each becomes, to be chosen. */
export function OperationsDialog({
  plan,
  chosen,
  onChosen,
  isImporting,
  isReading,
  error,
  readError,
  onImport,
  onReadAgain,
  onSettings,
  onBack,
}: {
  plan: ToolImport;
  /** Methods and paths of the chosen operations. */
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
  isImporting: boolean;
  /** True while the operations are read again. */
  isReading: boolean;
  /** Error of the import. */
  error: Error | null;
  /** Error of reading the operations again. */
  readError: Error | null;
  onImport: () => void;
  onReadAgain: () => void;
  onSettings: () => void;
  onBack: () => void;
}) {
  const { operations, counts, removed } = plan;
  const allId = useId();
  const [q, setQ] = useState("");
  const [difference, setDifference] = useState<ImportedOperation["difference"]>();
  /** Groups that are not as they are at first. */
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const isOpenAtFirst = operations.length <= openOperations;
  const isFiltered = q.trim() !== "" || difference !== undefined;
  const groups = groupsOf(operations, { q, difference });
  const rows = rowsOf(groups, (tag) => isFiltered || turned.has(tag) !== isOpenAtFirst);
  const shown = groups.flatMap((group) => group.operations);
  const updates = operations.filter((each) => each.difference === "changed" && chosen.has(each.operation)).length;
  const possible = counts.added + counts.changed;
  const isTooMany = chosen.size > importLimits.tools;
  const mark = (marked: readonly ImportedOperation[], on: boolean) => {
    const next = new Set(chosen);
    for (const each of marked)
      if (on && canImport(each)) next.add(each.operation);
      else if (!on) next.delete(each.operation);
    onChosen(next);
  };
  return (
    <Base.Root open onOpenChange={(open) => !open && !isImporting && onBack()}>
      <DialogShell wide>
        <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{`Operations of ${plan.title || "the document"}`}</Base.Title>
        <Base.Description className="px-5 pt-0.5 text-muted wrap-anywhere">
          {joinFacts(
            plan.server ?? "The document names no server",
            counts.added > 0 && `${formatCount(counts.added)} new`,
            counts.changed > 0 && `${formatCount(counts.changed)} changed`,
            counts.unchanged > 0 && `${formatCount(counts.unchanged)} unchanged`,
            counts.refused > 0 && `${formatCount(counts.refused)} not possible`,
          )}
        </Base.Description>
        <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 pt-3 pb-4">
          <ErrorNote title="The operations cannot be shown" error={readError} />
          {hasChanged(error) ? (
            <Callout tone="warn" role="alert">
              <p>The document has changed since its operations were shown. Nothing was imported.</p>
              <Button size="sm" className="mt-2" disabled={isReading} onClick={onReadAgain}>
                {isReading ? "Reading operations" : "Show them as they are now"}
              </Button>
            </Callout>
          ) : (
            <ErrorNote title="The operations were not imported" error={error} />
          )}
          {removed.length > 0 && (
            <Callout tone="warn">
              {`${plural(counts.removed, "tool")} of an earlier import ${counts.removed === 1 ? "is" : "are"} no longer in the document: ${removed
                .slice(0, namesMost)
                .map(({ name }) => name)
                .join(", ")}${counts.removed > namesMost ? " and others" : ""}. They stay as they are.`}
            </Callout>
          )}
          {isTooMany && (
            <Callout tone="warn" role="status">
              {`${formatCount(chosen.size)} are chosen, and an import takes at most ${importLimits.tools}. Choose fewer, for example by group, and import the others afterwards.`}
            </Callout>
          )}
          <div className="flex flex-wrap items-center gap-2">
            <SearchField label="Search operations" placeholder="Name, path or tag" value={q} onSearch={setQ} />
            <Chip name="State" value={difference} choices={choicesOf(differenceWords)} onChange={setDifference} />
            <Button kind="ghost" size="sm" onClick={onSettings} disabled={isImporting}>
              Server and authentication
            </Button>
          </div>
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <span className="flex min-h-(--control-sm) items-center gap-2.5 px-3">
              <Mark id={allId} operations={shown} chosen={chosen} onMark={mark} />
              <label htmlFor={allId}>{isFiltered ? "All that are found" : "All operations"}</label>
            </span>
            <p role="status" className="text-xs text-muted">
              {joinFacts(
                isFiltered && `${formatCount(shown.length)} found`,
                `${formatCount(chosen.size)} of ${formatCount(possible)} chosen`,
                possible > importLimits.tools && `at most ${importLimits.tools} per import`,
              )}
            </p>
          </div>
          {rows.length === 0 ? (
            <p className="rounded-md border border-line px-3 py-2 text-muted">
              {operations.length === 0 ? "The document has no operations." : "No operation matches."}
            </p>
          ) : (
            <OperationRows
              plan={plan}
              rows={rows}
              chosen={chosen}
              onMark={mark}
              onTurn={(tag) => {
                const next = new Set(turned);
                if (!next.delete(tag)) next.add(tag);
                setTurned(next);
              }}
              canTurn={!isFiltered}
            />
          )}
        </div>
        <DialogFoot>
          <Base.Close className={buttonClass()} disabled={isImporting}>
            Back
          </Base.Close>
          <Button
            kind="primary"
            disabled={isImporting || isReading || chosen.size === 0 || isTooMany}
            onClick={onImport}
          >
            {isImporting ? "Importing" : importWords(chosen.size - updates, updates)}
          </Button>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}

function importWords(created: number, updated: number): string {
  if (updated === 0) return created === 0 ? "Import" : `Create ${plural(created, "tool")}`;
  return created === 0
    ? `Update ${plural(updated, "tool")}`
    : `Create ${formatCount(created)}, update ${formatCount(updated)}`;
}
