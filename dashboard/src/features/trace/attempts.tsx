import { RotateCcw } from "lucide-react";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { formatCost, formatCount, formatDuration } from "../../lib/format.ts";
import { attemptLengths } from "./attempt-lengths.ts";
import { Block } from "./block.tsx";

/** Why each attempt that was given up was given up, and how long was waited then. */
export function Attempts({ step }: { step: TraceStep }) {
  if (step.retries.length === 0) return null;
  const lengths = attemptLengths(step);
  return (
    <Block title="Attempts that were given up">
      <ol className="flex flex-col divide-y divide-line-soft rounded-md border border-line">
        {step.retries.map(({ attempt, reason, delay_ms, usage }, index) => (
          <li key={attempt} className="flex min-w-0 gap-2.5 px-2.5 py-1.5">
            <RotateCcw aria-hidden className="mt-0.5 size-3.5 shrink-0 text-muted" strokeWidth={1.5} />
            <div className="min-w-0 flex-1">
              <p className="wrap-anywhere">{reason ? reason.message : "The server stopped while it was under way."}</p>
              <p className="flex flex-wrap gap-x-3 text-xs text-muted tabular-nums">
                <span>Attempt {attempt}</span>
                {reason && <code>{reason.code}</code>}
                <span>given up after {formatDuration(lengths[index] ?? null)}</span>
                {delay_ms > 0 && <span>then waited {formatDuration(delay_ms)}</span>}
                {usage && (
                  <span>
                    {formatCount(usage.output_tokens)} tokens written, {formatCost(usage.cost_usd)}
                  </span>
                )}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Block>
  );
}
