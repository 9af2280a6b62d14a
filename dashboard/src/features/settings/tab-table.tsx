import { type ReactNode, useRef } from "react";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import type { SettingsSearch } from "./read-settings-search.ts";

/** What a tab knows of the address. */
export interface TabProps {
  search: SettingsSearch;
  onSearch: (search: SettingsSearch) => void;
}

interface TabTableProps {
  /** Filters and acts. */
  bar: ReactNode;
  /** What to know of the tab, or why nothing can be changed here. */
  hint: string;
  /** Of what the table lists. */
  pending: boolean;
  error: Error | null;
  onRetry: () => void;
  /** “The people cannot be shown”. */
  failed: string;
  children: ReactNode;
  foot?: ReactNode;
}

/** A tab of one list: bar, what scrolls, foot. */
export function TabTable({ bar, hint, pending, error, onRetry, failed, children, foot }: TabTableProps) {
  const body = useRef<HTMLDivElement>(null);
  useRowKeys(body);
  return (
    <>
      <SheetBar>
        {bar}
        <span className="hidden text-xs text-muted rail:inline">{hint}</span>
      </SheetBar>
      <p className="shrink-0 border-b border-line px-4 py-1.5 text-xs text-muted rail:hidden">{hint}</p>
      <div ref={body} className="relative min-h-0 flex-1 overflow-y-auto">
        {error && (
          <div className="px-4 py-4 rail:px-5">
            <ErrorNote title={failed} error={error} onRetry={onRetry} />
          </div>
        )}
        {pending ? <TableSkeleton /> : children}
      </div>
      {foot}
    </>
  );
}
