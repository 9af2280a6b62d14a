import { clsx } from "clsx";

/** Placeholder bar. */
export function Skeleton({ className }: { className: string }) {
  return <span aria-hidden className={clsx("skeleton block h-2.5 rounded-full", className)} />;
}
