import { type ReactNode, useRef } from "react";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { TableSkeleton } from "../../ui/data/table.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import type { SettingsSearch } from "./read-settings-search.ts";

/** The address as a tab sees it. */
export interface TabProps {
  search: SettingsSearch;
  onSearch: (search: SettingsSearch) => void;
}

interface TabTableProps {
  /** Filters and buttons. */
  bar: ReactNode;
  /** Explanation of the tab, or why it is read-only. */
  hint: string;
  /** True while the list is loading. */
  pending: boolean;
  error: Error | null;
  onRetry: () => void;
  /** Title of the error: “The people cannot be shown”. */
  failed: string;
  children: ReactNode;
  foot?: ReactNode;
}

/** Tab with one list: bar, scrolling body, foot. */
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
