import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { lastText } from "../../../../server/core/run-input.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { formatCost, formatCount } from "../../lib/format.ts";
import { StatusPill } from "../../ui/status-pill.tsx";
import { cellClass as cell, rowLink } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { RunDuration } from "./run-duration.tsx";
import { oneLine, runLine } from "./run-line.ts";
import { StepsStrip } from "./steps-strip.tsx";

const tones = { plain: "text-muted", bad: "text-bad", warn: "text-warn" };
const number = "rail:text-right whitespace-nowrap full:pr-4!";
const small = "max-rail:text-xs max-rail:text-muted";

/** One run: what it is, what became of it, what it took. The whole row opens it. */
export function RunRow({
  run,
  isNew,
  isSelected,
  onSelect,
}: {
  run: Run;
  isNew: boolean;
  isSelected: boolean;
  onSelect: (run: Run) => void;
}) {
  const agent = useAgentName(run.agent_id);
  const line = runLine(run);
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
            aria-label={`Select ${agent}, ${oneLine(lastText(run.input)).slice(0, 60)}`}
          />
        </label>
      </td>
      <td className={clsx(cell, "order-1 rail:w-px")}>
        <StatusPill status={run.status} />
      </td>
      <td className={clsx(cell, "order-3 min-w-0 flex-[1_0_100%] rail:w-full rail:max-w-0 full:w-1/2")}>
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          data-row
          title={`${agent} · ${oneLine(lastText(run.input))}`}
          className={rowLink}
        >
          <span className="font-medium">{agent}</span>
          <span className="text-muted"> · {oneLine(lastText(run.input))}</span>
        </Link>
        <span className={clsx("cut block text-xs", tones[line.tone])} title={line.text}>
          {line.text}
        </span>
      </td>
      <td className={clsx(cell, small, "order-4 whitespace-nowrap")}>
        <StepsStrip run={run} />
      </td>
      <td className={clsx(cell, number, "order-2 ml-auto rail:ml-0")}>
        <RunDuration run={run} />
      </td>
      <td className={clsx(cell, number, "max-wide:hidden!")}>{formatCount(run.usage?.total_tokens)}</td>
      <td className={clsx(cell, number, small, "order-5 ml-auto rail:ml-0 rail:max-full:pr-5")}>
        {formatCost(run.usage?.cost_usd)}
      </td>
      <td className={clsx(cell, small, "order-6 whitespace-nowrap text-muted rail:max-full:hidden")}>
        <Time at={run.started_at ?? run.created_at} />
      </td>
    </tr>
  );
}
