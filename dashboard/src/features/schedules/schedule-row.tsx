import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lastText } from "../../../../server/core/run-input.ts";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { lastFiringQuery } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { CronText } from "./cron-text.tsx";
import type { ScheduleAct } from "./schedule-acts.ts";
import { ScheduleMenu } from "./schedule-menu.tsx";
import { OutcomePill, SchedulePill } from "./schedule-pill.tsx";

/** One schedule: what it runs, when, and what came of it. The row opens it. */
export function ScheduleRow({
  schedule,
  isStarting,
  mayChange,
  onRun,
  onAct,
}: {
  schedule: Schedule;
  isStarting: boolean;
  mayChange: boolean;
  onRun: () => void;
  onAct: (act: ScheduleAct) => void;
}) {
  const agent = useAgentName(schedule.agent_id);
  const [next] = schedule.next_run_ats;
  const trouble = schedule.disabled_reason ?? schedule.last_error?.message;
  return (
    <Row data-schedule={schedule.id}>
      <Cell main>
        <Link
          to="/schedules/$scheduleId"
          params={{ scheduleId: schedule.id }}
          data-row
          title={schedule.name}
          className={rowLink}
        >
          <span className="font-medium">{schedule.name}</span>
          <span className="text-muted"> · {agent}</span>
        </Link>
        <SecondLine title={trouble ?? lastText(schedule.input)} tone={trouble ? "text-bad" : "text-muted"}>
          {trouble ?? lastText(schedule.input)}
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
        {mayChange && (
          <RowActs>
            <Button size="sm" kind="ghost" disabled={isStarting} onClick={onRun}>
              Run now<span className="sr-only">: {schedule.name}</span>
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
  const at = useWorkspace();
  const { data: last } = useQuery(lastFiringQuery(at, schedule));
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
