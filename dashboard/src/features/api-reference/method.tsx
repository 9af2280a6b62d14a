import { clsx } from "clsx";
import type { ListedOperation } from "./list-operations.ts";

/** The HTTP method, at a fixed width unless `wide`, so that methods form a column. */
export function Method({ method, wide = false }: { method: ListedOperation["method"]; wide?: boolean }) {
  return (
    <code
      className={clsx(
        "shrink-0 text-2xs font-strong",
        !wide && "w-11",
        method === "DELETE" ? "text-bad" : "text-accent",
      )}
    >
      {method}
    </code>
  );
}
