import { clsx } from "clsx";
import type { FieldLine } from "./list-fields.ts";
import { WithCode } from "./with-code.tsx";

const indents = ["", "pl-4", "pl-8", "pl-12"];

/** A table of fields with their types and limits. Fields of an object follow it, indented. */
export function FieldTable({ label, lines }: { label: string; lines: FieldLine[] }) {
  return (
    <div className="min-w-0 rounded-md border border-line">
      <table aria-label={label} className="w-full border-collapse">
        <thead className="sr-only">
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type and limits</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ path, name, depth, type, required, limits: rule, description }, index) => (
            <tr
              // biome-ignore lint/suspicious/noArrayIndexKey: a union may have a name twice, and rows never move.
              key={`${path} ${index}`}
              className="flex flex-wrap gap-x-4 border-t border-line-soft px-3 py-1.5 first:border-t-0 rail:table-row rail:p-0"
            >
              <td className="align-top max-rail:w-full rail:w-1/3 rail:border-t rail:border-line-soft rail:px-3 rail:py-1.5">
                <div className={clsx("wrap-anywhere", indents[Math.min(depth, 3)])}>
                  <code title={path}>{name}</code>
                  {required && <span className="ml-2 text-2xs text-warn">required</span>}
                </div>
              </td>
              <td className="min-w-0 align-top wrap-anywhere rail:border-t rail:border-line-soft rail:px-3 rail:py-1.5">
                {type}
                {rule && <span className="text-xs text-muted"> {rule}</span>}
                {description && (
                  <span className="block text-xs text-muted">
                    <WithCode text={description} />
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
