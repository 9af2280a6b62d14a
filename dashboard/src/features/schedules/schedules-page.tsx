import { useQuery } from "@tanstack/react-query";
import { CalendarClock, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { schedulesQuery } from "../../entities/schedule/schedule-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { EmptiedPage } from "../../ui/emptied-page.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Table, TableSkeleton } from "../../ui/table.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { type ScheduleAct, useRunNow } from "./schedule-acts.ts";
import { ScheduleDialogs } from "./schedule-dialogs.tsx";
import { ScheduleRow } from "./schedule-row.tsx";

const columns = [
  { label: "Name and input" },
  { label: "Fires" },
  { label: "Status" },
  { label: "Next" },
  { label: "Last", folds: true },
  { label: "Acts", silent: true },
];

/** What runs by the clock, in a project and mode. */
export function SchedulesPage({ search, onSearch }: { search: PageSearch; onSearch: (search: PageSearch) => void }) {
  const at = useWorkspace();
  const mayChange = useMay("member");
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(schedulesQuery(at, search));
  const [act, setAct] = useState<ScheduleAct | null>(null);
  const run = useRunNow();
  const create = mayChange ? () => setAct({ kind: "create" }) : undefined;
  useTitle("Schedules", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => create?.() });
  const schedules = page.data?.data;
  const isLater = Boolean(search.after || search.before);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Schedules</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {create ? (
            <Button kind="primary" onClick={create} title="Create schedule (c)">
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create schedule
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <section ref={body} aria-label="Schedules" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote
              title={schedules ? "The list is not up to date" : "The schedules cannot be shown"}
              error={page.error}
              onRetry={() => void page.refetch()}
            />
          </div>
        )}
        {run.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote title="No run was started" error={run.error} />
          </div>
        )}
        {page.isPending && (
          <div role="status" aria-label="Loading schedules">
            <TableSkeleton />
          </div>
        )}
        {schedules && schedules.length > 0 && (
          <Table label="Schedules" columns={columns}>
            {schedules.map((schedule) => (
              <ScheduleRow
                key={schedule.id}
                schedule={schedule}
                isStarting={run.isPending}
                mayChange={mayChange}
                onRun={() => run.mutate(schedule)}
                onAct={setAct}
              />
            ))}
          </Table>
        )}
        {schedules?.length === 0 && isLater && (
          <EmptiedPage icon={CalendarClock} noun="schedule" onFirst={() => onSearch({})} />
        )}
        {schedules?.length === 0 && !isLater && (
          <EmptyState icon={CalendarClock} title={`No ${at.mode} schedules yet`}>
            <p className="max-w-[52ch] text-muted">
              A schedule starts a run of an agent by the clock: a report each morning, a check every quarter of an hour.
            </p>
            {create && (
              <Button kind="primary" onClick={create}>
                Create schedule
              </Button>
            )}
          </EmptyState>
        )}
      </section>
      <Paging noun="schedule" page={page.data} search={search} onPage={onSearch} />
      <ScheduleDialogs act={act} onAct={setAct} />
    </>
  );
}
