import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History, ListFilter } from "lucide-react";
import { useRef, useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { type Outcome, outcomes } from "../../../../server/wire/names.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import type { ScheduleSearch } from "../../entities/schedule/read-schedule-search.ts";
import { firingsQuery, scheduleQuery } from "../../entities/schedule/schedule-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { Table, TableSkeleton } from "../../ui/table.tsx";
import { FiringRow } from "./firing-row.tsx";
import type { ScheduleAct } from "./schedule-acts.ts";
import { ScheduleDialogs } from "./schedule-dialogs.tsx";
import { ScheduleHead } from "./schedule-head.tsx";
import { OutcomePill, outcomeWords } from "./schedule-pill.tsx";
import { SchedulePlan } from "./schedule-plan.tsx";

const columns = [{ label: "Outcome" }, { label: "Run" }, { label: "Why" }, { label: "Due" }];
const choices = outcomes.map((value) => ({
  value,
  label: <OutcomePill outcome={value} />,
  word: outcomeWords(value),
}));

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
  const at = useWorkspace();
  const mayChange = useMay("member");
  const read = useQuery(scheduleQuery(at, id));
  const [act, setAct] = useState<ScheduleAct | null>(null);
  useTitle(read.data?.name ?? "Schedule", at.project.name);
  return (
    <ObjectPage
      object={read}
      noun="schedule"
      id={id}
      path={`/schedules/${encodeURIComponent(id)}`}
      list={
        <Link to="/schedules" className={buttonClass()}>
          Go to schedules
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(schedule, stale) => (
        <>
          <ScheduleHead schedule={schedule} mayChange={mayChange} onAct={setAct} />
          {stale}
          <div className="flex min-h-0 flex-1 flex-col overflow-y-auto wide:flex-row-reverse wide:overflow-hidden">
            <SchedulePlan schedule={schedule} />
            <Times id={schedule.id} search={search} onSearch={onSearch} />
          </div>
          <ScheduleDialogs act={act} onAct={setAct} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
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
  const at = useWorkspace();
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(firingsQuery(at, id, search));
  useRowKeys(body);
  const firings = page.data?.data;
  const isFiltered = Boolean(search.outcome || search.after || search.before);
  return (
    <section aria-label="Its times" className="flex min-w-0 flex-1 flex-col wide:min-h-0">
      <SheetBar>
        <Chip<Outcome>
          name="Outcome"
          value={search.outcome}
          choices={choices}
          onChange={(outcome) => onSearch({ outcome })}
        />
      </SheetBar>
      <div ref={body} className="relative min-h-0 flex-1 wide:overflow-y-auto">
        {page.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote title="Its times are not up to date" error={page.error} onRetry={() => void page.refetch()} />
          </div>
        )}
        {page.isPending && <TableSkeleton />}
        {firings && firings.length > 0 && (
          <Table label="Its times" columns={columns}>
            {firings.map((firing) => (
              <FiringRow key={firing.id} firing={firing} />
            ))}
          </Table>
        )}
        {firings?.length === 0 && isFiltered && (
          <EmptyState icon={ListFilter} title="No time had this outcome">
            <Button onClick={() => onSearch({})}>Clear filter</Button>
          </EmptyState>
        )}
        {firings?.length === 0 && !isFiltered && (
          <EmptyState icon={History} title="No time has come yet">
            <p className="max-w-[46ch] text-muted">What comes of each time is listed here, with its run.</p>
          </EmptyState>
        )}
      </div>
      <Paging
        noun="time"
        page={page.data}
        search={search}
        onPage={(next) => onSearch({ outcome: search.outcome, ...next })}
      />
    </section>
  );
}
