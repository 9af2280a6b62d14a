import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History, ListFilter, Pause, Play } from "lucide-react";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { ScheduleRun as Firing, Schedule } from "../../../../server/wire/schedule.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ObjectHead } from "../../entities/resource/object-head.tsx";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import type { ScheduleSearch } from "../../entities/schedule/read-schedule-search.ts";
import { firingsQuery, scheduleQuery } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Chip, choicesOf } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote, WireLine } from "../../ui/error-note.tsx";
import { Fact, IdFact } from "../../ui/facts.tsx";
import { ListBody } from "../../ui/list-body.tsx";
import { Note } from "../../ui/note.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { type ScheduleAct, ScheduleDialogs, ScheduleMenu, useRunNow, useSwitchSchedule } from "./schedule-acts.tsx";
import { OutcomePill, outcomeWords, SchedulePill } from "./schedule-pill.tsx";
import { SchedulePlan } from "./schedule-plan.tsx";

const columns = [{ label: "Outcome" }, { label: "Run" }, { label: "Why" }, { label: "Scheduled for" }];
const choices = choicesOf(outcomeWords, (value) => <OutcomePill outcome={value} />);

/** One schedule: when it fires, and what came of its times. */
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

/** Which schedule this is, how it stands, and what last went wrong. */
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
        <IdFact noun="schedule" id={schedule.id} />
        <Fact name="Agent">
          <span className="cut" title={agent}>
            <AgentLink id={schedule.agent_id} className="cut block text-accent hover:underline" />
          </span>
        </Fact>
        <Fact name="Next">{next ? <Until at={next} /> : "–"}</Fact>
        <Fact name="Created">
          <Time at={schedule.created_at} />
        </Fact>
        {schedule.user_id && <Fact name="User">{schedule.user_id}</Fact>}
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
      <Note tone={disabled_reason ? "bad" : "warn"}>
        <b>{disabled_reason ? "This schedule is disabled" : "The last run could not be started"}</b>
        <p>{disabled_reason ?? last_error?.message}</p>
        {!disabled_reason && failure_count > 0 && (
          <p className="text-xs text-muted">
            {failure_count} of 5 failures in a row. After that, the schedule is disabled until it is resumed.
          </p>
        )}
        {last_error && <WireLine code={last_error.code} requestId={last_error.run_id} />}
      </Note>
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
      <Paging noun="time" page={list.data} search={search} onPage={(place) => onSearch({ outcome, ...place })} />
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

/** A time that came, and what came of it; its run opens. */
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
