import { clsx } from "clsx";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { formatCount, unknown } from "../../lib/format.ts";
import { callWords, stepMarks } from "./step-marks.ts";

/** More would not fit into the column. */
const shownMarks = 14;

/** What a run did: its calls as a strip of colours, the failing one ringed, and their number. */
export function StepsStrip({ run }: { run: Run }) {
  const marks = stepMarks(run);
  const shown = marks.length > shownMarks ? marks.slice(-shownMarks) : marks;
  const words = callWords(run.usage);
  const count = run.usage ? run.usage.model_calls + run.usage.tool_calls : null;
  if (!count && marks.length === 0) return <span title="Nothing was called">{unknown}</span>;
  return (
    <span title={words} className="inline-flex items-center gap-2 align-middle whitespace-nowrap">
      <span aria-hidden className="inline-flex h-3.5 gap-px">
        {marks.length > shown.length && <span className="text-2xs leading-none text-faint">…</span>}
        {shown.map((mark, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: marks are only ever added at the end.
            key={index}
            data-step={mark.type}
            className={clsx(
              "outlined w-1 rounded-sm bg-step",
              mark.failed && "mx-px w-1.5 ring-1 ring-bad ring-offset-1 ring-offset-surface",
            )}
          />
        ))}
      </span>
      <span aria-hidden className="tabular-nums">
        {formatCount(count)}
      </span>
      <span className="sr-only">{words}</span>
    </span>
  );
}
