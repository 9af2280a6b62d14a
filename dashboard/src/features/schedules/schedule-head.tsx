import { Link } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote, WireLine } from "../../ui/error-note.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Note } from "../../ui/note.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { type ScheduleAct, useRunNow, useSwitchSchedule } from "./schedule-acts.ts";
import { ScheduleMenu } from "./schedule-menu.tsx";
import { SchedulePill } from "./schedule-pill.tsx";

/** Which schedule this is, how it stands, and what last went wrong. */
export function ScheduleHead({
  schedule,
  mayChange,
  onAct,
}: {
  schedule: Schedule;
  mayChange: boolean;
  onAct: (act: ScheduleAct) => void;
}) {
  const run = useRunNow();
  const switching = useSwitchSchedule();
  const agent = useAgentName(schedule.agent_id);
  const [next] = schedule.next_run_ats;
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to="/schedules">Schedules</Link>
        </Breadcrumb>
        <h1 className="cut text-lg max-rail:w-full" title={schedule.name}>
          {schedule.name}
        </h1>
        <SchedulePill schedule={schedule} />
        <ModePill />
        <span className="ml-auto flex items-center gap-1.5">
          {mayChange ? (
            <>
              <Button disabled={switching.isPending} onClick={() => switching.mutate(schedule)}>
                {schedule.enabled ? (
                  <Pause aria-hidden className="size-4" strokeWidth={1.5} />
                ) : (
                  <Play aria-hidden className="size-4" strokeWidth={1.5} />
                )}
                {schedule.enabled ? "Pause" : "Resume"}
              </Button>
              <Button kind="primary" disabled={run.isPending} onClick={() => run.mutate(schedule)}>
                Run now
              </Button>
              <ScheduleMenu schedule={schedule} onAct={onAct} />
            </>
          ) : (
            <ViewOnly />
          )}
        </span>
        <Facts>
          <Fact name="Schedule">
            <code className="cut">{schedule.id}</code>
            <CopyButton text={schedule.id} what="schedule id" />
          </Fact>
          <Fact name="Agent">
            <span className="cut" title={agent}>
              {agent}
            </span>
          </Fact>
          <Fact name="Next">{next ? <Until at={next} /> : "–"}</Fact>
          <Fact name="Created">
            <Time at={schedule.created_at} />
          </Fact>
          {schedule.user_id && <Fact name="User">{schedule.user_id}</Fact>}
        </Facts>
      </SheetHead>
      <Trouble schedule={schedule} />
      {run.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="No run was started" error={run.error} />
        </div>
      )}
    </>
  );
}

function Trouble({ schedule: { disabled_reason, last_error, failure_count } }: { schedule: Schedule }) {
  if (!disabled_reason && !last_error) return null;
  return (
    <div className="border-b border-line px-4 py-3 rail:px-5">
      <Note tone={disabled_reason ? "bad" : "warn"}>
        <b>{disabled_reason ? "It was switched off" : "Its last time failed"}</b>
        <p>{disabled_reason ?? last_error?.message}</p>
        {!disabled_reason && failure_count > 0 && (
          <p className="text-xs text-muted">
            {failure_count} of 5 failures in a row, after which it is switched off until somebody resumes it.
          </p>
        )}
        {last_error && <WireLine code={last_error.code} requestId={last_error.run_id} />}
      </Note>
    </div>
  );
}
