import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import { useState } from "react";
import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { lastFiringQuery, schedulesQuery } from "../../entities/schedule/schedule-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { cronWords } from "./cron-words.ts";
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

/** List of schedules in a workspace. */
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
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(schedule) => <ScheduleRow key={schedule.id} schedule={schedule} run={run} onAct={setAct} />}
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

/** A schedule's row: agent, times and last outcome. A click opens it. */
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
  const may = usePermission("member");
  const agent = useAgentName(schedule.agent_id);
  const [next] = schedule.next_run_ats;
  const trouble = disabled_reason ?? last_error?.message;
  const line = trouble ?? markdownToText(lastText(input));
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
        {next ? <RelativeTime at={next} /> : <span className="text-muted">–</span>}
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

/** Outcome of the last run. */
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

/** A schedule's cron expression in words if possible, and its time zone. */
function CronText({ schedule: { cron, timezone } }: { schedule: Pick<Schedule, "cron" | "timezone"> }) {
  const words = cronWords(cron);
  return (
    <span className="min-w-0" title={`${cron} ${timezone}`}>
      {words ?? <code>{cron}</code>}
      <span className="text-xs text-muted max-rail:ml-1.5 rail:block">{timezone}</span>
    </span>
  );
}
