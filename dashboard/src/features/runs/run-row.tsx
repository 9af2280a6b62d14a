import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { formatCost, formatCount } from "../../lib/format.ts";
import type { Run } from "../../lib/types.ts";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Time } from "../../ui/time.tsx";
import { oneLine, runLine } from "./fns/run-line.ts";
import { RunDuration } from "./run-duration.tsx";
import { useAgentName } from "./use-agent-name.ts";

const tones = { plain: "text-muted", bad: "text-bad", warn: "text-warn" };
const cell =
  "block rail:table-cell rail:h-11.5 rail:border-b rail:border-line-soft rail:px-1.5 rail:py-1 rail:align-middle rail:first:pl-5 rail:last:pr-5";
const number = "rail:text-right whitespace-nowrap";

/** One run: what it is, what became of it, what it took. The whole row opens it. */
export function RunRow({ run, isNew }: { run: Run; isNew: boolean }) {
  const agent = useAgentName(run.agent_id);
  const line = runLine(run);
  return (
    <tr
      className={clsx(
        "group relative flex flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line-soft px-4 py-2.5 hover:bg-hover rail:table-row",
        isNew && "row-new",
      )}
    >
      <td className={clsx(cell, "order-1 w-px")}>
        <StatusPill status={run.status} />
      </td>
      <td className={clsx(cell, "order-3 min-w-0 flex-[1_0_100%] rail:w-full rail:max-w-0")}>
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          data-row
          title={`${agent} · ${oneLine(run.input)}`}
          className="cut block text-ink group-hover:underline group-hover:underline-offset-2 before:absolute before:inset-0 focus-visible:shadow-none focus-visible:before:shadow-[inset_0_0_0_2px_var(--focus-color)]"
        >
          <span className="font-medium">{agent}</span>
          <span className="text-muted"> · {oneLine(run.input)}</span>
        </Link>
        <span className={clsx("cut block text-xs", tones[line.tone])} title={line.text}>
          {line.text}
        </span>
      </td>
      <td className={clsx(cell, number, "order-2 ml-auto rail:ml-0")}>
        <RunDuration run={run} />
      </td>
      <td className={clsx(cell, number, "order-4 max-rail:text-xs max-rail:text-muted")}>
        {formatCount(run.usage?.total_tokens)}
        <span className="rail:hidden"> tokens</span>
      </td>
      <td className={clsx(cell, number, "order-5 max-rail:text-xs max-rail:text-muted rail:max-full:pr-5")}>
        {formatCost(run.usage?.cost_usd)}
      </td>
      <td className={clsx(cell, "order-6 ml-auto whitespace-nowrap text-muted max-rail:text-xs rail:max-full:hidden")}>
        <Time at={run.started_at ?? run.created_at} />
      </td>
    </tr>
  );
}
