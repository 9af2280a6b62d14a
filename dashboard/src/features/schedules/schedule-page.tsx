import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ScheduleRun as Firing, Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { AutomationBody } from "../../entities/automation/automation-body.tsx";
import { OutcomeList, OutcomeRow } from "../../entities/automation/outcome-list.tsx";
import { SwitchButton } from "../../entities/automation/switch-automation.tsx";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage, type ObjectPageProps } from "../../entities/crud/object-page.tsx";
import type { ScheduleSearch } from "../../entities/schedule/read-schedule-search.ts";
import { firingsQuery, scheduleQuery } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote, WireLine } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { choicesOf } from "../../ui/forms/chip.tsx";
import { type ScheduleAct, ScheduleDialogs, ScheduleMenu, useRunNow, useSwitchSchedule } from "./schedule-acts.tsx";
import { OutcomePill, outcomeWords, SchedulePill } from "./schedule-pill.tsx";
import { SchedulePlan } from "./schedule-plan.tsx";

const columns = [{ label: "Outcome" }, { label: "Run" }, { label: "Why" }, { label: "Scheduled for" }];
const choices = choicesOf(outcomeWords, (value) => <OutcomePill outcome={value} />);

/** Page of one schedule: its plan and its past runs. */
export function SchedulePage({ id, search, onSearch, onLookIn, onLeave }: ObjectPageProps<ScheduleSearch>) {
  const read = useQuery(scheduleQuery(useWorkspace(), id));
  const [act, setAct] = useState<ScheduleAct | null>(null);
  return (
    <ObjectPage object={read} noun="schedule" list="/schedules" id={id} onLookIn={onLookIn}>
      {(schedule, stale) => (
        <>
          <ScheduleHead schedule={schedule} onAct={setAct} />
          {stale}
          <AutomationBody>
            <SchedulePlan schedule={schedule} />
            <Times id={id} search={search} onSearch={onSearch} />
          </AutomationBody>
          <ScheduleDialogs act={act} onAct={setAct} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}

/** Head of a schedule's page: name, status and last failure. */
function ScheduleHead({ schedule, onAct }: { schedule: Schedule; onAct: (act: ScheduleAct) => void }) {
  const run = useRunNow();
  const switching = useSwitchSchedule();
  const agent = useAgentName(schedule.agent_id);
  const [next] = schedule.next_run_ats;
  return (
    <>
      <ObjectHead
        list="/schedules"
        name={schedule.name}
        pills={<SchedulePill schedule={schedule} />}
        acts={
          <>
            <SwitchButton automation={schedule} switching={switching} />
            <Button kind="primary" disabled={run.isPending} onClick={() => run.mutate(schedule)}>
              Run now
            </Button>
            <ScheduleMenu schedule={schedule} onAct={onAct} />
          </>
        }
      >
        <IdDescription noun="schedule" id={schedule.id} />
        <Description name="Agent">
          <span className="cut" title={agent}>
            <AgentLink id={schedule.agent_id} className="cut block text-accent hover:underline" />
          </span>
        </Description>
        {(schedule.label ?? schedule.version) !== null && (
          <Description name={schedule.label === null ? "Version" : "Label"}>
            <span className="cut" title={schedule.label ?? undefined}>
              {schedule.label ?? schedule.version}
            </span>
          </Description>
        )}
        <Description name="Next">{next ? <RelativeTime at={next} /> : "–"}</Description>
        <Description name="Created">
          <Time at={schedule.created_at} />
        </Description>
        {schedule.user_id && <Description name="User">{schedule.user_id}</Description>}
      </ObjectHead>
      <Trouble schedule={schedule} />
      <ErrorNote inset title="No run was started" error={run.error} />
    </>
  );
}

function Trouble({ schedule: { disabled_reason, last_error, failure_count } }: { schedule: Schedule }) {
  if (!disabled_reason && !last_error) return null;
  return (
    <div className="border-b border-line px-4 py-3 rail:px-5">
      <Callout tone={disabled_reason ? "bad" : "warn"}>
        <b>{disabled_reason ? "This schedule is disabled" : "The last run could not be started"}</b>
        <p>{disabled_reason ?? last_error?.message}</p>
        {!disabled_reason && failure_count > 0 && (
          <p className="text-xs text-muted">
            {failure_count} of 5 failures in a row. After that, the schedule is disabled until it is resumed.
          </p>
        )}
        {last_error && <WireLine code={last_error.code} requestId={last_error.run_id} />}
      </Callout>
    </div>
  );
}

function Times({ id, ...place }: Pick<ObjectPageProps<ScheduleSearch>, "id" | "search" | "onSearch">) {
  return (
    <OutcomeList
      label="Past runs"
      noun="time"
      list={useQuery(firingsQuery(useWorkspace(), id, place.search))}
      columns={columns}
      choices={choices}
      row={({ id, run_id, outcome, error, trigger, due_at }) => (
        <OutcomeRow
          key={id}
          pill={<OutcomePill outcome={outcome} />}
          runId={run_id}
          reason={error?.message ?? silence[outcome]}
          isFailed={error !== null}
          note={triggers[trigger]}
          at={due_at}
        />
      )}
      {...place}
      empty={{ title: "No runs yet", about: "Each scheduled run is listed here with its outcome." }}
    />
  );
}

const triggers: Record<Firing["trigger"], string> = {
  plan: "Scheduled",
  catch_up: "Catch-up",
  request: "Manual",
};
const silence: Partial<Record<Firing["outcome"], string>> = {
  skipped: "The previous run was still in progress.",
  missed: "The server was not running.",
};
