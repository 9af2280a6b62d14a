import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History, ListFilter, Pause, Play } from "lucide-react";
import { useState } from "react";
import type { ScheduleRun as Firing, Schedule } from "../../../../server/domain/api-types/schedule.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import type { ScheduleSearch } from "../../entities/schedule/read-schedule-search.ts";
import { firingsQuery, scheduleQuery } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { ListBody } from "../../ui/data/list-body.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote, WireLine } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { type ScheduleAct, ScheduleDialogs, ScheduleMenu, useRunNow, useSwitchSchedule } from "./schedule-acts.tsx";
import { OutcomePill, outcomeWords, SchedulePill } from "./schedule-pill.tsx";
import { SchedulePlan } from "./schedule-plan.tsx";

const columns = [{ label: "Outcome" }, { label: "Run" }, { label: "Why" }, { label: "Scheduled for" }];
const choices = choicesOf(outcomeWords, (value) => <OutcomePill outcome={value} />);

/** Page of one schedule: its plan and its past runs. */
export function SchedulePage({
  id,
  search,
  onSearch,
  onLookIn,
  onLeave,
}: {
  id: string;
  search: ScheduleSearch;
  onSearch: (search: ScheduleSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}) {
  const read = useQuery(scheduleQuery(useWorkspace(), id));
  const [act, setAct] = useState<ScheduleAct | null>(null);
  return (
    <ObjectPage object={read} noun="schedule" list="/schedules" id={id} onLookIn={onLookIn}>
      {(schedule, stale) => (
        <>
          <ScheduleHead schedule={schedule} onAct={setAct} />
          {stale}
          <div className="flex min-h-0 flex-1 flex-col overflow-y-auto wide:flex-row-reverse wide:overflow-hidden">
            <SchedulePlan schedule={schedule} />
            <Times id={id} search={search} onSearch={onSearch} />
          </div>
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
  const Switch = schedule.enabled ? Pause : Play;
  return (
    <>
      <ObjectHead
        list="/schedules"
        name={schedule.name}
        pills={<SchedulePill schedule={schedule} />}
        acts={
          <>
            <Button disabled={switching.isPending} onClick={() => switching.mutate(schedule)}>
              <Switch aria-hidden className="size-4" strokeWidth={1.5} />
              {schedule.enabled ? "Pause" : "Resume"}
            </Button>
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

function Times({
  id,
  search,
  onSearch,
}: {
  id: string;
  search: ScheduleSearch;
  onSearch: (search: ScheduleSearch) => void;
}) {
  const list = useQuery(firingsQuery(useWorkspace(), id, search));
  const { outcome, after, before } = search;
  return (
    <div className="flex min-w-0 flex-1 flex-col wide:min-h-0">
      <SheetBar>
        <Chip name="Outcome" value={outcome} choices={choices} onChange={(next) => onSearch({ outcome: next })} />
      </SheetBar>
      <ListBody
        label="Past runs"
        list={list}
        columns={columns}
        scroll="wide:overflow-y-auto"
        row={(firing) => <FiringRow key={firing.id} firing={firing} />}
        none={
          outcome || after || before ? (
            <EmptyState icon={ListFilter} title="No results">
              <Button onClick={() => onSearch({})}>Clear filter</Button>
            </EmptyState>
          ) : (
            <EmptyState icon={History} title="No runs yet">
              <p className="max-w-[46ch] text-muted">Each scheduled run is listed here with its outcome.</p>
            </EmptyState>
          )
        }
      />
      <Pagination noun="time" page={list.data} search={search} onPage={(place) => onSearch({ outcome, ...place })} />
    </div>
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

/** A past scheduled time and its outcome; links to the run. */
function FiringRow({ firing: { run_id, outcome, error, trigger, due_at } }: { firing: Firing }) {
  const line = error?.message ?? silence[outcome];
  return (
    <Row stops={!run_id}>
      <Cell className="rail:w-px">
        <OutcomePill outcome={outcome} />
      </Cell>
      <Cell main>
        {run_id ? (
          <Link to="/runs/$runId" params={{ runId: run_id }} data-row title={run_id} className={rowLink}>
            <code>{run_id}</code>
          </Link>
        ) : (
          <span className="text-muted">No run</span>
        )}
        {line && (
          <SecondLine title={line} tone={error ? "text-bad" : "text-muted"}>
            {line}
          </SecondLine>
        )}
      </Cell>
      <Cell className="whitespace-nowrap text-muted">{triggers[trigger]}</Cell>
      <Cell className="whitespace-nowrap">
        <Time at={due_at} />
      </Cell>
    </Row>
  );
}
