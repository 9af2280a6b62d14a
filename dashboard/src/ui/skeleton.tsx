import { clsx } from "clsx";

/** A bar in the size of what comes. */
export function Skeleton({ className }: { className: string }) {
  return <span aria-hidden className={clsx("skeleton block h-2.5 rounded-full", className)} />;
}
