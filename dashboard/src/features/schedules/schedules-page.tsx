import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import { useState } from "react";
import { lastText } from "../../../../server/core/run-input.ts";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ListPage } from "../../entities/resource/list-page.tsx";
import { lastFiringQuery, schedulesQuery } from "../../entities/schedule/schedule-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { plainLine } from "../../lib/plain-line.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { CronText } from "./cron-text.tsx";
import { type ScheduleAct, ScheduleDialogs, ScheduleMenu, useRunNow } from "./schedule-acts.tsx";
import { OutcomePill, SchedulePill } from "./schedule-pill.tsx";

const columns = [
  { label: "Name and input" },
  { label: "Schedule" },
  { label: "Status" },
  { label: "Next" },
  { label: "Last", folds: true },
  { label: "Actions", silent: true },
];

/** What runs by the clock, in a project and mode. */
export function SchedulesPage({ search, onSearch }: { search: NamedSearch; onSearch: (search: NamedSearch) => void }) {
  const at = useWorkspace();
  const list = useQuery(schedulesQuery(at, search));
  const [act, setAct] = useState<ScheduleAct | null>(null);
  const run = useRunNow();
  return (
    <>
      <ListPage
        title="Schedules"
        noun="schedule"
        {...{ list, columns, search, onSearch }}
        row={(schedule) => <ScheduleRow key={schedule.id} {...{ schedule, run }} onAct={setAct} />}
        notes={<ErrorNote inset title="No run was started" error={run.error} />}
        searchBy="name"
        create={{ act: "Create schedule", onCreate: () => setAct({ kind: "create" }) }}
        empty={{
          icon: CalendarClock,
          title: `No ${at.mode} schedules yet`,
          about: "A schedule starts runs of an agent at set times, such as a report every morning.",
        }}
      />
      <ScheduleDialogs act={act} onAct={setAct} />
    </>
  );
}

/** One schedule: what it runs, when, and what came of it. The row opens it. */
function ScheduleRow({
  schedule,
  run,
  onAct,
}: {
  schedule: Schedule;
  run: ReturnType<typeof useRunNow>;
  onAct: (act: ScheduleAct) => void;
}) {
  const { id, name, input, disabled_reason, last_error } = schedule;
  const may = useMay("member");
  const agent = useAgentName(schedule.agent_id);
  const [next] = schedule.next_run_ats;
  const trouble = disabled_reason ?? last_error?.message;
  const line = trouble ?? plainLine(lastText(input));
  return (
    <Row data-schedule={id}>
      <Cell main>
        <Link to="/schedules/$scheduleId" params={{ scheduleId: id }} data-row title={name} className={rowLink}>
          <span className="font-medium">{name}</span>
          <span className="text-muted"> · {agent}</span>
        </Link>
        <SecondLine title={line} tone={trouble ? "text-bad" : "text-muted"}>
          {line}
        </SecondLine>
      </Cell>
      <Cell className="max-rail:w-full rail:whitespace-nowrap">
        <CronText schedule={schedule} />
      </Cell>
      <Cell>
        <SchedulePill schedule={schedule} />
      </Cell>
      <Cell className="whitespace-nowrap">
        <span className="rail:hidden">Next </span>
        {next ? <Until at={next} /> : <span className="text-muted">–</span>}
      </Cell>
      <Cell folds className="whitespace-nowrap">
        <LastRun schedule={schedule} />
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {may && (
          <RowActs>
            <Button size="sm" kind="ghost" disabled={run.isPending} onClick={() => run.mutate(schedule)}>
              Run now<span className="sr-only">: {name}</span>
            </Button>
            <ScheduleMenu schedule={schedule} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

/** The result of its last time. */
function LastRun({ schedule }: { schedule: Schedule }) {
  const { data: last } = useQuery(lastFiringQuery(useWorkspace(), schedule));
  if (!last) return <span className="text-muted">{last === null ? "Not run yet" : "–"}</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 rail:flex-col rail:items-start">
      <OutcomePill outcome={last.outcome} />
      <span className="text-xs text-muted">
        <Time at={last.due_at} />
      </span>
    </span>
  );
}
