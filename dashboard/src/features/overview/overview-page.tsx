import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChartColumn, Table2, Waypoints } from "lucide-react";
import { useMemo } from "react";
import type { Alert } from "../../../../server/domain/api-types/alert.ts";
import type { Environment } from "../../../../server/domain/scope.ts";
import { alertsQuery } from "../../entities/alert/alert-api.ts";
import { daysOf, daysUntil, type PeriodSearch, spanOf } from "../../entities/analytics/period.ts";
import { PeriodBar } from "../../entities/analytics/period-bar.tsx";
import { newestRunsQuery } from "../../entities/run/run-api.ts";
import { firstApprovalsQuery } from "../../entities/tool-call/approval-api.ts";
import { agentUsageQuery, dayUsageQuery, failuresQuery } from "../../entities/usage/usage-api.ts";
import { useToday } from "../../hooks/use-now.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Card } from "../../ui/data/card.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetFoot, SheetHead } from "../../ui/dialogs/sheet.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { ByAgent } from "./by-agent.tsx";
import { CardError, MoreSkeleton, OverviewSkeleton } from "./cards.tsx";
import { RunsChart, TimeChart, TokensChart } from "./day-charts.tsx";
import { Failures } from "./failures.tsx";
import { Figures } from "./figures.tsx";
import { NeedsYou } from "./needs-you.tsx";
import type { OverviewSearch } from "./read-overview-search.ts";
import { fillDays, minShownDays } from "./usage-days.ts";

/** A lazy chunk, because the figures and the waiting calls come first. */
const MoreCharts = lazyPart(() => import("./more-charts.tsx").then((it) => ({ default: it.MoreCharts })));

const viewChoices = [
  { value: "chart", label: "Charts", icon: ChartColumn },
  { value: "table", label: "Tables", icon: Table2 },
] as const;

/** The overview: waiting calls and failures first, then usage and costs. */
export function OverviewPage({
  search,
  onSearch,
}: {
  search: OverviewSearch;
  onSearch: (search: OverviewSearch) => void;
}) {
  const at = useWorkspace();
  const { v } = search;
  const usage = usePeriod(search);
  const isEmpty = usage.isEmpty;
  useTitle("Overview", at.project.name);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Overview</h1>
        <ModePill />
        {!isEmpty && (
          <div className="ml-auto flex flex-wrap items-center gap-2">
            <PeriodBar search={search} onPeriod={(chosen) => onSearch({ ...chosen, v })} />
            <SegmentedControl
              name="view"
              label="Show as"
              choices={viewChoices}
              chosen={v ?? "chart"}
              onChoose={(chosen) => onSearch({ ...search, v: chosen === "table" ? "table" : undefined })}
            />
          </div>
        )}
      </SheetHead>
      <section aria-label="Overview" className="relative min-h-0 flex-1 overflow-y-auto">
        <ErrorNote
          inset
          title={usage.days ? "The overview is not up to date" : "The overview cannot be shown"}
          error={usage.error}
          onRetry={usage.refetch}
        />
        <Alerts />
        {isEmpty ? <NothingYet mode={at.mode} /> : <Cards usage={usage} search={search} asTable={v === "table"} />}
      </section>
      {!isEmpty && (
        <SheetFoot>
          <span>Counted on this server, up to 15 s ago. Days are in UTC.</span>
          <span className="ml-auto hidden rail:inline">Costs use the prices in Settings.</span>
        </SheetFoot>
      )}
    </>
  );
}

/** Returns the usage of a period and of the period before. */
function usePeriod(search: PeriodSearch) {
  const at = useWorkspace();
  const today = useToday();
  const { period, from, to } = search;
  const { all, counted, shown } = useMemo(() => {
    const days = daysOf({ period, from, to }, today);
    const shown = Math.max(days.length, minShownDays);
    // 366 days are the server's limit for one query.
    const before = Math.min(Math.max(2 * days.length, shown), 366);
    return { all: daysUntil(days.at(-1)!, before), counted: days.length, shown };
  }, [period, from, to, today]);
  const { data, error, refetch } = useQuery(dayUsageQuery(at, all));
  const filled = data && fillDays(data.data, all);
  const isQuiet = filled?.every((day) => day.runs.started === 0 && day.model_calls === 0) ?? false;
  const any = useQuery({ ...newestRunsQuery(at, { limit: 1 }), enabled: isQuiet });
  return {
    error,
    refetch: () => void refetch(),
    isEmpty: isQuiet && any.data?.data.length === 0,
    days: filled && {
      counted: filled.slice(-counted),
      before: filled.slice(-2 * counted, -counted),
      shown: filled.slice(-shown),
    },
  };
}

function Cards({
  usage: { days, error },
  search,
  asTable,
}: {
  usage: ReturnType<typeof usePeriod>;
  search: PeriodSearch;
  asTable: boolean;
}) {
  const at = useWorkspace();
  const today = useToday();
  const waiting = useQuery(firstApprovalsQuery(at, 5, 15_000));
  const counted = days?.counted.map(({ day }) => day) ?? [];
  const isOver = counted.length > 0 && counted.at(-1)! < today;
  const time = {
    since: `${counted[0]}T00:00:00.000Z`,
    until: isOver ? `${counted.at(-1)}T23:59:59.999Z` : undefined,
  };
  const failed = useQuery({ ...failuresQuery(at, time), enabled: days !== undefined });
  const agents = useQuery({ ...agentUsageQuery(at, counted), enabled: days !== undefined });
  const custom = search.from ? { days: counted.length, isOver } : undefined;
  if (!days) return error ? null : <OverviewSkeleton />;
  return (
    <div className="grid grid-cols-2 gap-3 px-4 py-4 rail:px-5 wide:grid-cols-4 [&>section]:col-span-full wide:[&>section]:col-span-2">
      <div className="col-span-full grid grid-cols-2 gap-3 wide:grid-cols-4">
        <Figures {...days} period={custom ?? search.period ?? "7d"} />
      </div>
      <NeedsYou read={waiting} />
      <Failures read={failed} time={time} />
      <RunsChart days={days.shown} asTable={asTable} />
      <TimeChart days={days.shown} asTable={asTable} />
      <LazyBoundary fallback={<MoreSkeleton />}>
        <MoreCharts span={spanOf(counted)} asTable={asTable} />
      </LazyBoundary>
      <TokensChart days={days.shown} asTable={asTable} />
      {agents.error && !agents.data && !error && (
        <Card title="By agent" className="col-span-full!">
          <CardError what="The agents" isShown={false} error={agents.error} onRetry={() => void agents.refetch()} />
        </Card>
      )}
      {agents.data && agents.data.data.length > 0 && <ByAgent agents={agents.data.data} />}
    </div>
  );
}

function NothingYet({ mode }: { mode: Environment }) {
  return (
    <EmptyState icon={Waypoints} title="No runs yet">
      <p className="max-w-[46ch] text-muted">
        This page shows what needs your attention, what failed and why, and what it cost.
        {mode === "live" && " Live data starts with the first run of a live key."}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        <Link to="/start" className={buttonClass({ kind: "primary" })}>
          Start the first run
        </Link>
        <Link to="/playground" className={buttonClass()}>
          Open the playground
        </Link>
      </div>
    </EmptyState>
  );
}

/** The open alerts, each with advice. Renders nothing if there are none. */
function Alerts() {
  const { data } = useQuery(alertsQuery(useWorkspace()));
  if (!data || data.length === 0) return null;
  return (
    <ul aria-label="Alerts" className="flex flex-col gap-2 px-4 pt-4 rail:px-5">
      {keepHighestBudgetAlert(data).map(({ id, when, detail, todo, opened_at }) => (
        <li key={id}>
          <Callout tone="warn">
            <p>
              <b>{removeBackticks(when)}</b> {detail}
            </p>
            <p className="text-xs">
              {removeBackticks(todo)} Since <Time at={opened_at} />.
            </p>
          </Callout>
        </li>
      ))}
    </ul>
  );
}

const budgetRules = ["budget_50", "budget_80", "budget_100"];

/** Keeps only the highest of the daily budget's alerts. */
function keepHighestBudgetAlert(alerts: readonly Alert[]): readonly Alert[] {
  const highest = budgetRules.findLast((mark) => alerts.some(({ rule }) => rule === mark));
  return alerts.filter(({ rule }) => rule === highest || !budgetRules.includes(rule));
}

const removeBackticks = (sentence: string): string => sentence.replaceAll("`", "");
