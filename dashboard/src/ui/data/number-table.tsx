import { clsx } from "clsx";
import type { ReactNode } from "react";

interface NumberRow {
  key: string;
  /** One per column; the first names the row. */
  cells: readonly ReactNode[];
}

/** Table of numbers: a chart's data, to read and copy. */
export function NumberTable({
  label,
  columns,
  texts = 1,
  rows,
}: {
  label: string;
  columns: readonly string[];
  /** Number of leading columns with text. */
  texts?: number;
  rows: readonly NumberRow[];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section aria-label={`${label}, in numbers`} tabIndex={0} className="min-w-0 overflow-x-auto">
      <table aria-label={label} className="w-full">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column}
                scope="col"
                className={clsx(
                  "h-8 bg-subtle px-3 text-2xs font-medium whitespace-nowrap text-muted first:pl-4 last:pr-4",
                  index < texts ? "text-left" : "text-right",
                )}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} className="hover:bg-hover">
              {cells.map((cell, index) => (
                <td
                  key={columns[index]}
                  className={clsx(
                    "h-(--row-dense) border-t border-line-soft px-3 whitespace-nowrap first:pl-4 last:pr-4",
                    index === 0 && "w-full max-w-0 min-w-36",
                    index >= texts && "text-right",
                  )}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
