import { clsx } from "clsx";
import type { Run } from "../../lib/types.ts";
import { RunRow } from "./run-row.tsx";

const columns = [
  { label: "Status" },
  { label: "Agent, input and result" },
  { label: "Duration", right: true },
  { label: "Tokens", right: true },
  { label: "Cost", right: true },
  { label: "Started", folds: true },
];

/** The runs of a page. On a phone each row is an entry of three lines. */
export function RunsTable({ runs, fresh }: { runs: Run[]; fresh: ReadonlySet<string> }) {
  return (
    <table className="block w-full border-separate border-spacing-0 rail:table">
      <thead className="max-rail:sr-only">
        <tr>
          {columns.map(({ label, right, folds }) => (
            <th
              key={label}
              scope="col"
              className={clsx(
                "sticky top-0 z-(--z-sticky) h-8 border-b border-line bg-subtle px-1.5 text-2xs font-medium whitespace-nowrap text-muted first:pl-5 last:pr-5",
                right ? "text-right" : "text-left",
                label === "Cost" && "rail:max-full:pr-5",
                folds && "rail:max-full:hidden",
              )}
            >
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="block rail:table-row-group">
        {runs.map((run) => (
          <RunRow key={run.id} run={run} isNew={fresh.has(run.id)} />
        ))}
      </tbody>
    </table>
  );
}
