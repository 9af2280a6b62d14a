import { clsx } from "clsx";
import type { ComponentProps, ReactNode } from "react";

export interface Column {
  label: string;
  /** Right-aligned, for numbers. */
  right?: boolean;
  /** Hidden below the full page width; its content must be available elsewhere. */
  folds?: boolean;
  /** The head is visually hidden, as for a row's actions. */
  silent?: boolean;
}

/** If columns are hidden, the last visible one keeps the distance from the edge. */
export const lastVisibleCell = "rail:max-full:nth-last-[1_of_:not([data-folds])]:pr-5";

/** A table of objects, one per row. On a phone each row is a card. */
export function Table({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
  children: ReactNode;
}) {
  return (
    <table
      aria-label={label}
      data-many={columns.length > 6 || undefined}
      className="block w-full border-separate border-spacing-0 rail:table"
    >
      <thead className="max-rail:sr-only">
        <tr>
          {columns.map(({ label, right, folds, silent }) => (
            <th
              key={label}
              scope="col"
              data-folds={folds || undefined}
              className={clsx(
                "sticky top-0 z-(--z-sticky) h-8 border-b border-line bg-subtle px-1.5 text-2xs font-medium whitespace-nowrap text-muted first:pl-5 last:pr-5",
                lastVisibleCell,
                right ? "text-right full:not-last:pr-6" : "text-left",
                folds && "rail:max-full:hidden",
              )}
            >
              {silent ? <span className="sr-only">{label}</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="block rail:table-row-group">{children}</tbody>
    </table>
  );
}

/**
 * A row. `rowLink` in its main cell makes the whole row clickable. Without a link, `stops` lets `j` and `k` focus the
 * row, from where Tab moves to its actions.
 */
export function Row({ stops = false, className, ...rest }: ComponentProps<"tr"> & { stops?: boolean }) {
  return (
    <tr
      {...(stops && { "data-row": true, tabIndex: -1 })}
      className={clsx(
        "group relative flex flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line-soft px-4 py-2.5 hover:bg-hover rail:table-row",
        stops && "focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)]",
        className,
      )}
      {...rest}
    />
  );
}

/** Classes of a cell, for rows that reorder their cells on a phone. */
export const cellClass = `block rail:table-cell rail:h-11.5 rail:border-b rail:border-line-soft rail:px-1.5 rail:py-1 rail:align-middle rail:first:pl-5 rail:last:pr-5 ${lastVisibleCell}`;

/** A cell. `main` takes most of the width and has its own line on a phone. */
export function Cell({
  main,
  right,
  folds,
  className,
  ...rest
}: ComponentProps<"td"> & { main?: boolean; right?: boolean; folds?: boolean }) {
  return (
    <td
      data-folds={folds || undefined}
      className={clsx(
        cellClass,
        main &&
          "min-w-0 flex-[1_0_100%] max-rail:order-first rail:w-full rail:max-w-0 full:w-1/2 full:in-data-many:w-1/3",
        right && "whitespace-nowrap rail:text-right full:not-last:pr-6",
        folds && "rail:max-full:hidden",
        !main && "max-rail:text-xs max-rail:text-muted",
        className,
      )}
      {...rest}
    />
  );
}

/** Classes of the link in a row's main cell: it covers the row, and `j` and `k` move between these links. */
export const rowLink =
  "cut block text-ink group-hover:underline group-hover:underline-offset-2 before:absolute before:inset-0 focus-visible:shadow-none focus-visible:before:shadow-[inset_0_0_0_2px_var(--focus-color)]";

/** Second line of a main cell. */
export function SecondLine({
  children,
  title,
  tone = "text-muted",
}: {
  children: ReactNode;
  title?: string;
  tone?: string;
}) {
  return (
    <span className={clsx("cut block text-xs", tone)} title={title}>
      {children}
    </span>
  );
}

/** Actions of a row, stacked above the row's link and always visible. */
export function RowActs({ children }: { children: ReactNode }) {
  return <span className="relative inline-flex items-center justify-end gap-1">{children}</span>;
}

/** Placeholder with the size of rows. */
export function TableSkeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div aria-hidden className="flex flex-col">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
        <div key={row} className="flex h-11.5 items-center gap-6 border-b border-line-soft px-5">
          <span className="skeleton block h-2.5 w-1/3 rounded-full" />
          <span className="skeleton block h-2.5 w-1/6 rounded-full" />
          <span className="skeleton ml-auto block h-2.5 w-1/12 rounded-full" />
        </div>
      ))}
    </div>
  );
}
