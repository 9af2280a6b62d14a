import { clsx } from "clsx";
import type { ComponentProps, ReactNode } from "react";

export interface Column {
  label: string;
  /** Numbers stand on the right. */
  right?: boolean;
  /** Goes where the page is not at its full width: what it says must be found elsewhere. */
  folds?: boolean;
  /** The column has no visible head: acts of the row. */
  silent?: boolean;
}

/** Where columns fold, the last that is left stands as far from the edge as the last of all. */
export const lastInSight = "rail:max-full:nth-last-[1_of_:not([data-folds])]:pr-5";

/** A list of things, one a row. On a phone each row is an entry of some lines. */
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
                lastInSight,
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
 * One thing. `rowLink` in its main cell makes the whole row open it. Where nothing opens it, `stops` lets `j` and `k` come
 * to the row itself, from where Tab goes on to its acts.
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

/** The classes of a cell, for rows that give their cells another order on a phone. */
export const cellClass = `block rail:table-cell rail:h-11.5 rail:border-b rail:border-line-soft rail:px-1.5 rail:py-1 rail:align-middle rail:first:pl-5 rail:last:pr-5 ${lastInSight}`;

/** One fact of it. `main`: the cell that takes most of the room; on a phone it has a line of its own. */
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

/** The classes of the link in a row's main cell: the row is its target, and `j` and `k` go from one to the next. */
export const rowLink =
  "cut block text-ink group-hover:underline group-hover:underline-offset-2 before:absolute before:inset-0 focus-visible:shadow-none focus-visible:before:shadow-[inset_0_0_0_2px_var(--focus-color)]";

/** The second line of a main cell. */
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

/** Acts of a row: above the row's own link, always visible. */
export function RowActs({ children }: { children: ReactNode }) {
  return <span className="relative inline-flex items-center justify-end gap-1">{children}</span>;
}

/** Rows in the size of those that come. */
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
