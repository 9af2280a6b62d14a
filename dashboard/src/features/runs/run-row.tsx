import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { countedUsage } from "../../../../server/domain/counted-usage.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { RunTime } from "../../entities/run/run-time.tsx";
import { formatCost, formatCount, unknownText } from "../../lib/format.ts";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { cellClass as cell, rowLink } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import type { Column } from "./columns.ts";
import { runLine, runSubject } from "./run-line.ts";
import { callWords, stepMarks } from "./step-marks.ts";

const tones = { plain: "text-muted", bad: "text-bad", warn: "text-warn" };
const number = "rail:text-right whitespace-nowrap full:pr-4!";
const small = "max-rail:text-xs max-rail:text-muted";

/** A run's row: subject, result and figures. A click anywhere opens the run. */
export function RunRow({
  run,
  columns,
  folds,
  isNew,
  isSelected,
  onSelect,
}: {
  run: Run;
  columns: ReadonlySet<Column>;
  folds: boolean;
  isNew: boolean;
  isSelected: boolean;
  onSelect: (run: Run) => void;
}) {
  const agent = useAgentName(run.agent_id);
  const line = runLine(run);
  const usage = countedUsage(run);
  const subject = runSubject(run);
  return (
    <tr
      data-run={run.id}
      className={clsx(
        "group relative flex flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line-soft px-4 py-2.5 rail:table-row",
        isSelected ? "bg-accent-soft" : "hover:bg-hover",
        isNew && "row-new",
      )}
    >
      <td className={clsx(cell, "order-1 rail:w-px rail:pr-0!")}>
        <label className="relative z-1 flex h-5 w-4 cursor-pointer items-center justify-center pointer-coarse:-m-2.5 pointer-coarse:size-10">
          <input
            type="checkbox"
            checked={isSelected}
            onChange={() => onSelect(run)}
            aria-label={`Select ${agent}, ${subject.slice(0, 60)}`}
          />
        </label>
      </td>
      <td className={clsx(cell, "order-1 rail:w-px")}>
        <StatusPill status={run.status} />
      </td>
      <td className={clsx(cell, "order-3 min-w-0 flex-[1_0_100%] rail:w-full rail:max-w-0 rail:min-w-60 full:w-1/2")}>
        <Link to="/runs/$runId" params={{ runId: run.id }} data-row title={`${agent} · ${subject}`} className={rowLink}>
          <span className="font-medium">{agent}</span>
          <span className="text-muted"> · {subject}</span>
        </Link>
        <span className={clsx("cut block text-xs", tones[line.tone])} title={line.text}>
          {line.text}
        </span>
      </td>
      {columns.has("calls") && (
        <td className={clsx(cell, small, "order-4 whitespace-nowrap")}>
          <StepsStrip run={run} />
        </td>
      )}
      {columns.has("model") && (
        <td className={clsx(cell, "max-w-48 max-rail:hidden")}>
          <span className="cut block" title={run.model ?? undefined}>
            {run.model ?? unknownText}
          </span>
        </td>
      )}
      {columns.has("user") && (
        <td className={clsx(cell, "max-w-40 max-rail:hidden")}>
          <span className="cut block" title={run.user_id ?? undefined}>
            {run.user_id ?? unknownText}
          </span>
        </td>
      )}
      {columns.has("duration") && (
        <td className={clsx(cell, number, "order-2 ml-auto rail:ml-0")}>
          <RunTime run={run} />
        </td>
      )}
      {columns.has("tokens") && (
        <td
          data-folds={folds || undefined}
          className={clsx(cell, number, folds ? "max-wide:hidden!" : "max-rail:hidden")}
        >
          {formatCount(usage?.total_tokens)}
        </td>
      )}
      {columns.has("cost") && (
        <td className={clsx(cell, number, small, "order-5 ml-auto rail:ml-0")}>
          {formatCost(usage?.cost_usd, usage?.cost_estimated)}
        </td>
      )}
      {columns.has("started") && (
        <td
          data-folds={folds || undefined}
          className={clsx(cell, small, "order-6 whitespace-nowrap text-muted", folds && "rail:max-wide:hidden")}
        >
          <Time at={run.started_at ?? run.created_at} />
        </td>
      )}
    </tr>
  );
}

/** Maximum that fits into the column. */
const shownMarks = 14;

/** A run's calls as a strip of colours with their number; a failed one is ringed. */
function StepsStrip({ run }: { run: Run }) {
  const marks = stepMarks(run);
  const shown = marks.length > shownMarks ? marks.slice(-shownMarks) : marks;
  const words = callWords(run.usage);
  const count = run.usage ? run.usage.model_calls + run.usage.tool_calls : null;
  if (!count && marks.length === 0) return <span title="No calls">{unknownText}</span>;
  return (
    <span title={words} className="inline-flex items-center gap-2 align-middle whitespace-nowrap">
      <span aria-hidden className="inline-flex h-3.5 gap-px">
        {marks.length > shown.length && <span className="text-2xs leading-none text-faint">…</span>}
        {shown.map((mark, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: marks are only appended.
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
