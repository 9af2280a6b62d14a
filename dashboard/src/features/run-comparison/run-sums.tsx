import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Columns2 } from "lucide-react";
import type { ReactNode } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Diff as DiffPage } from "../../../../server/domain/api-types/trace.ts";
import { countedUsage } from "../../../../server/domain/counted-usage.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import type { Timing } from "../../../../server/domain/timing.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { timingFigures, timingNames, useTiming } from "../../entities/run/use-timing.ts";
import { formatCost, formatCount, formatDuration } from "../../lib/format.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { costDelta, countDelta, type Delta, timeDelta } from "./delta-words.ts";

/** Totals of both runs, the right one with differences. */
export function RunSums({ a, b, page }: { a: Run; b: Run; page: DiffPage }) {
  const { changes } = page;
  // The usage of an unfinished run may be unknown.
  const usage = {
    a: countedUsage(a) ? page.usage.a : { total_tokens: null, cost_usd: null },
    b: countedUsage(b) ? page.usage.b : { total_tokens: null, cost_usd: null },
  };
  const [of_a, of_b] = [useTiming(a), useTiming(b)];
  const shared = changes.equal + changes.changed;
  return (
    <div className="z-(--z-sticky) grid border-b border-line bg-surface rail:sticky rail:top-0 rail:grid-cols-[minmax(0,1fr)_var(--space-10)_minmax(0,1fr)]">
      <Sum side="A" run={a}>
        {timingFigures.map((figure) =>
          isFigureShown(figure, of_a, of_b) ? (
            <Figure key={figure} name={timingNames[figure]}>
              {formatDuration(of_a?.[figure])}
            </Figure>
          ) : null,
        )}
        <Figure name="Tokens">{formatCount(usage.a.total_tokens)}</Figure>
        <Figure name="Cost">{formatCost(usage.a.cost_usd, countedUsage(a)?.cost_estimated)}</Figure>
        <Figure name="Steps">{formatCount(shared + changes.only_a)}</Figure>
      </Sum>
      <span className="grid place-items-center border-x border-line-soft bg-subtle text-faint max-rail:hidden">
        <Columns2 aria-hidden className="size-4" strokeWidth={1.5} />
      </span>
      <Sum side="B" run={b}>
        {timingFigures.map((figure) =>
          isFigureShown(figure, of_a, of_b) ? (
            <Figure
              key={figure}
              name={timingNames[figure]}
              // Recorded time has no difference: neither more nor less is better.
              delta={figure === "recorded_ms" ? undefined : timeDelta(of_a?.[figure] ?? null, of_b?.[figure] ?? null)}
            >
              {formatDuration(of_b?.[figure])}
            </Figure>
          ) : null,
        )}
        <Figure name="Tokens" delta={countDelta(usage.a.total_tokens, usage.b.total_tokens)} />
        <Figure name="Cost" delta={costDelta(usage.a.cost_usd, usage.b.cost_usd)} />
        <Figure name="Steps">{formatCount(shared + changes.only_b)}</Figure>
      </Sum>
    </div>
  );
}

/** True if a figure is shown: it is the working time, or one of the runs has it. */
const isFigureShown = (figure: keyof Timing, ...all: (Timing | null)[]): boolean =>
  figure === "worked_ms" || all.some((timing) => (timing?.[figure] ?? 0) > 0);

function Sum({ side, run, children }: { side: string; run: Run; children: ReactNode }) {
  const agent = useAgentName(run.agent_id);
  return (
    <section aria-label={`Run ${side}`} className="min-w-0 px-4 py-2.5 rail:px-5">
      <h2 className="flex min-w-0 items-center gap-2">
        <Badge>{side}</Badge>
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          className="cut min-w-0 text-sm text-accent hover:underline"
          title={run.id}
        >
          {run.id}
        </Link>
        <span className="shrink-0">
          <StatusPill status={run.status} />
        </span>
      </h2>
      <p className="cut pt-1 text-xs text-muted" title={lastText(run.input)}>
        {agent} v{run.agent_version} · {lastText(run.input)}
      </p>
      <dl className="flex flex-wrap gap-x-3.5 gap-y-0.5 pt-1 text-xs">{children}</dl>
    </section>
  );
}

const inks = { less: "text-ok", more: "text-bad", same: "text-ink", unknown: "text-ink" };

function Figure({ name, delta, children }: { name: string; delta?: Delta; children?: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className={clsx("font-medium tabular-nums", delta ? inks[delta.change] : "text-ink")}>
        {delta?.text ?? children}
      </dd>
    </div>
  );
}
