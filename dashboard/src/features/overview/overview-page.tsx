import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChartColumn, Table2, Waypoints } from "lucide-react";
import { useMemo } from "react";
import { firstApprovalsQuery } from "../../entities/call/approval-api.ts";
import { newestRunsQuery } from "../../entities/run/run-api.ts";
import { agentUsageQuery, dayUsageQuery, failuresQuery } from "../../entities/usage/usage-api.ts";
import { useToday } from "../../lib/use-now.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ChoiceBar } from "../../ui/choice-bar.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetFoot, SheetHead } from "../../ui/sheet.tsx";
import { Alerts } from "./alerts.tsx";
import { ByAgent } from "./by-agent.tsx";
import { CardError, OverviewSkeleton } from "./cards.tsx";
import { CostChart, RunsChart, TimeChart, TokensChart } from "./day-charts.tsx";
import { Failures } from "./failures.tsx";
import { Figures } from "./figures.tsx";
import { NeedsYou } from "./needs-you.tsx";
import type { OverviewSearch, Period } from "./read-overview-search.ts";
import { daysUntil, fillDays, periodDays } from "./usage-days.ts";

const periodChoices: { value: Period; label: string }[] = [
  { value: "today", label: "Today" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
];
const viewChoices = [
  { value: "chart", label: "Charts", icon: ChartColumn },
  { value: "table", label: "Tables", icon: Table2 },
] as const;

/** The morning look: what waits, what failed, then how much was done and spent. */
export function OverviewPage({
  search,
  onSearch,
}: {
  search: OverviewSearch;
  onSearch: (search: OverviewSearch) => void;
}) {
  const at = useWorkspace();
  const { period = "7d", v } = search;
  const usage = usePeriod(period);
  const isEmpty = usage.isEmpty;
  useTitle("Overview", at.project.name);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Overview</h1>
        <ModePill />
        {!isEmpty && (
          <div className="ml-auto flex flex-wrap items-center gap-2">
            <ChoiceBar
              name="period"
              label="Period"
              choices={periodChoices}
              chosen={period}
              onChoose={(chosen) => onSearch({ ...search, period: chosen })}
            />
            <ChoiceBar
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
        {isEmpty ? <NothingYet mode={at.mode} /> : <Cards usage={usage} period={period} asTable={v === "table"} />}
      </section>
      {!isEmpty && (
        <SheetFoot>
          <span>Counted on this machine, up to 15 s ago. Days are of UTC.</span>
          <span className="ml-auto hidden rail:inline">Costs are by the prices in Settings.</span>
        </SheetFoot>
      )}
    </>
  );
}

/** What was used in a period and in the one before. */
function usePeriod(period: Period) {
  const at = useWorkspace();
  const { counted, shown } = periodDays[period];
  const today = useToday();
  const all = useMemo(() => daysUntil(today, Math.max(2 * counted, shown)), [today, counted, shown]);
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
  period,
  asTable,
}: {
  usage: ReturnType<typeof usePeriod>;
  period: Period;
  asTable: boolean;
}) {
  const at = useWorkspace();
  const waiting = useQuery(firstApprovalsQuery(at, 5, 15_000));
  const since = `${days?.counted[0]?.day}T00:00:00.000Z`;
  const failed = useQuery({ ...failuresQuery(at, since), enabled: days !== undefined });
  const agents = useQuery({
    ...agentUsageQuery(at, days?.counted.map(({ day }) => day) ?? []),
    enabled: days !== undefined,
  });
  if (!days) return error ? null : <OverviewSkeleton />;
  return (
    <div className="grid grid-cols-2 gap-3 px-4 py-4 rail:px-5 wide:grid-cols-4 [&>section]:col-span-full wide:[&>section]:col-span-2">
      <div className="col-span-full grid grid-cols-2 gap-3 wide:grid-cols-4">
        <Figures {...days} period={period} />
      </div>
      <NeedsYou read={waiting} />
      <Failures read={failed} since={since} />
      <RunsChart days={days.shown} asTable={asTable} />
      <TimeChart days={days.shown} asTable={asTable} />
      <TokensChart days={days.shown} asTable={asTable} />
      <CostChart days={days.shown} asTable={asTable} />
      {agents.error && !agents.data && !error && (
        <Card title="By agent" className="col-span-full!">
          <CardError what="The agents" isShown={false} error={agents.error} onRetry={() => void agents.refetch()} />
        </Card>
      )}
      {agents.data && agents.data.data.length > 0 && <ByAgent agents={agents.data.data} />}
    </div>
  );
}

function NothingYet({ mode }: { mode: "test" | "live" }) {
  return (
    <EmptyState icon={Waypoints} title="No run yet">
      <p className="max-w-[46ch] text-muted">
        Here you will see each morning what waits for you, what failed and why, and what it all cost.
        {mode === "live" && " Live data begins with the first run of a live key."}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        <Link to="/start" className={buttonClass({ kind: "primary" })}>
          Make the first run
        </Link>
        <Link to="/playground" className={buttonClass()}>
          Open the playground
        </Link>
      </div>
    </EmptyState>
  );
}
