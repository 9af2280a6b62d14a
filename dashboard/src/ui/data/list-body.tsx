import { clsx } from "clsx";
import { type ReactNode, type UIEvent, useRef } from "react";
import { useBufferedRows } from "../../hooks/use-buffered-rows.ts";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { inSentence } from "../../lib/format.ts";
import { ErrorNote } from "../feedback/error-note.tsx";
import { NewRows } from "./new-rows.tsx";
import { type Column, Table, TableSkeleton } from "./table.tsx";

/** State of a list query. */
export interface ListRead<Data> {
  data: Data | undefined;
  error: Error | null;
  isLoading: boolean;
  refetch: () => unknown;
}

interface ListBodyProps<Item> {
  /** Label: “Memory stores”. */
  label: string;
  list: ListRead<{ data: readonly Item[] }>;
  /** Absent for a plain list instead of a table. */
  columns?: readonly Column[];
  row: (item: Item) => ReactNode;
  /** Content above the rows. */
  notes?: ReactNode;
  /** Empty state. */
  none: ReactNode;
  loading?: ReactNode;
  scroll?: string;
}

/** Rows of a list with loading, error and empty state. `j` and `k` move between rows. */
export function ListBody<Item>({
  label,
  list: { data, error, isLoading, refetch },
  columns,
  row,
  notes,
  none,
  loading = <TableSkeleton />,
  scroll = "overflow-y-auto",
  held,
}: ListBodyProps<Item> & { held?: { count: number; onShow: () => void; onScroll: (event: UIEvent) => void } }) {
  const body = useRef<HTMLElement>(null);
  useRowKeys(body);
  const items = data?.data;
  const rows = items?.map(row);
  const showNew = () => {
    held?.onShow();
    body.current?.scrollTo({ top: 0 });
  };
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {held && <NewRows count={held.count} onShow={showNew} />}
      <section
        ref={body}
        aria-label={label}
        onScroll={held?.onScroll}
        className={clsx("relative min-h-0 flex-1", scroll)}
      >
        <ErrorNote
          inset
          title={items ? "The list is not up to date" : `The ${inSentence(label)} cannot be shown`}
          error={error}
          onRetry={() => void refetch()}
        />
        {notes}
        {isLoading && (
          <div role="status" aria-label={`Loading ${inSentence(label)}`}>
            {loading}
          </div>
        )}
        {rows && rows.length > 0 && columns && (
          <Table label={label} columns={columns}>
            {rows}
          </Table>
        )}
        {rows && rows.length > 0 && !columns && <ul aria-label={label}>{rows}</ul>}
        {rows?.length === 0 && none}
      </section>
    </div>
  );
}

/** A polled list, newest first, that holds back new rows while it is scrolled. `place` identifies the list. */
export function LiveListBody<Item extends { id: string }>({ place, ...rest }: ListBodyProps<Item> & { place: string }) {
  const { shown, held, onScroll, showAll } = useBufferedRows(rest.list.data?.data, place);
  const { data, ...list } = rest.list;
  return (
    <ListBody
      {...rest}
      list={{ ...list, data: shown && { data: shown } }}
      held={{ count: held, onShow: showAll, onScroll }}
    />
  );
}
