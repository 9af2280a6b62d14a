import { Columns3, Download } from "lucide-react";
import { runExportUrl } from "../../entities/run/run-api.ts";
import type { RunsSearch } from "../../entities/run/runs-search.ts";
import { downloadUrl } from "../../lib/download.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Menu } from "../../ui/dialogs/menu.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { type Column, columnLabels, columns } from "./columns.ts";

const columnChoices = columns.map((value) => ({ value, label: columnLabels[value] }));

/** Menu that shows and hides columns. */
export function ColumnsMenu({ shown, onToggle }: { shown: ReadonlySet<Column>; onToggle: (column: Column) => void }) {
  const trigger = (
    <button type="button" className={`${buttonClass({ kind: "ghost", size: "sm" })} max-rail:hidden`}>
      <Columns3 aria-hidden className="size-3.5" strokeWidth={1.5} />
      Columns
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuChecks }) => <MenuChecks title="Columns" values={shown} choices={columnChoices} onToggle={onToggle} />}
    </Menu>
  );
}

/** Downloads all runs that match the filters, on all pages. */
export function ExportMenu({ search }: { search: RunsSearch }) {
  const at = useWorkspace();
  const save = (format: "jsonl" | "csv") => downloadUrl(runExportUrl(at, search, format), `runs.${format}`);
  const trigger = (
    <button type="button" className={buttonClass({ kind: "ghost", size: "sm" })}>
      <Download aria-hidden className="size-3.5" strokeWidth={1.5} />
      Export
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuHead, MenuItem }) => (
        <>
          <MenuHead>All runs of this list</MenuHead>
          <MenuItem onClick={() => save("jsonl")}>JSON lines (.jsonl)</MenuItem>
          <MenuItem onClick={() => save("csv")}>CSV (.csv)</MenuItem>
        </>
      )}
    </Menu>
  );
}
