import { clsx } from "clsx";
import type { Listed } from "./list-operations.ts";

/** How a request is sent, in a column of its own. */
export function Method({ method, wide = false }: { method: Listed["method"]; wide?: boolean }) {
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
