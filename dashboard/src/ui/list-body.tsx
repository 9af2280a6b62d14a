import { clsx } from "clsx";
import { type ReactNode, type UIEvent, useRef } from "react";
import { inSentence } from "../lib/format.ts";
import { useHeldRows } from "../lib/use-held-rows.ts";
import { useRowKeys } from "../lib/use-row-keys.ts";
import { ErrorNote } from "./error-note.tsx";
import { NewRows } from "./new-rows.tsx";
import { type Column, Table, TableSkeleton } from "./table.tsx";

/** The reading of a list. */
export interface ListRead<Data> {
  data: Data | undefined;
  error: Error | null;
  isLoading: boolean;
  refetch: () => unknown;
}

interface ListBodyProps<Item> {
  /** “Memory stores”. */
  label: string;
  list: ListRead<{ data: readonly Item[] }>;
  /** Without columns the rows are entries of a plain list. */
  columns?: readonly Column[];
  row: (item: Item) => ReactNode;
  /** What stands above the rows. */
  notes?: ReactNode;
  /** What stands in their place where there are none. */
  none: ReactNode;
  loading?: ReactNode;
  scroll?: string;
}

/** The rows of a list: before they come, where they do not come, and where there are none. `j` and `k` go through them. */
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

/** A list that is read again and again, the newest first: what comes while it is scrolled waits. `place`: which list it is. */
export function LiveListBody<Item extends { id: string }>({ place, ...rest }: ListBodyProps<Item> & { place: string }) {
  const { shown, held, onScroll, showAll } = useHeldRows(rest.list.data?.data, place);
  const { data, ...list } = rest.list;
  return (
    <ListBody
      {...rest}
      list={{ ...list, data: shown && { data: shown } }}
      held={{ count: held, onShow: showAll, onScroll }}
    />
  );
}
