import { clsx } from "clsx";
import type { Timeline } from "./timeline.ts";

/** The head of tree and waterfall: the names of the columns, and the times. */
export function Axis({ timeline }: { timeline: Timeline }) {
  return (
    <div
      aria-hidden
      className="sticky top-0 z-(--z-sticky) hidden h-7 shrink-0 items-center border-b border-line bg-subtle text-2xs text-muted rail:flex"
    >
      <span className="w-(--trace-name) shrink-0 pl-5">Step</span>
      <span className="w-(--trace-time) shrink-0 text-right">Time</span>
      <span className="relative mx-4 h-full min-w-0 flex-1">
        {timeline.ticks.map(({ at, label }) => (
          <span
            key={`${label} ${at}`}
            className={clsx(
              "absolute top-1.5 whitespace-nowrap tabular-nums max-wide:even:hidden",
              at > 0.95 ? "-translate-x-full" : at > 0.02 && "-translate-x-1/2",
            )}
            style={{ left: `${at * 100}%` }}
          >
            {label}
          </span>
        ))}
      </span>
    </div>
  );
}
