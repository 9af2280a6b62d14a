import { Pause, Play } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetBar, SheetHead } from "../../ui/sheet.tsx";
import { LiveDot, LostBadge } from "../../ui/stream-badge.tsx";
import { NoMatch, NoRuns } from "./no-runs.tsx";
import type { RunsSearch } from "./runs-api.ts";
import { RunsFoot } from "./runs-foot.tsx";
import { RunsTable } from "./runs-table.tsx";
import { RunsTableSkeleton } from "./runs-table-skeleton.tsx";
import { StatusFilter } from "./status-filter.tsx";
import { useLiveRuns } from "./use-live-runs.ts";
import { useRowKeys } from "./use-row-keys.ts";

/** All runs of a project and mode, newest first, as they happen. */
export function RunsPage({ search, onSearch }: { search: RunsSearch; onSearch: (search: RunsSearch) => void }) {
  const at = useWorkspace();
  const [live, setLive] = useState(true);
  const body = useRef<HTMLDivElement>(null);
  const { status, after, before } = search;
  const stable = useMemo(() => ({ status, after, before }), [status, after, before]);
  const { page, stream, waiting, fresh, showWaiting } = useLiveRuns(
    stable,
    live,
    () => (body.current?.scrollTop ?? 0) < 8,
  );
  useTitle("Runs", at.project.name);
  useRowKeys(body);
  const showNew = () => {
    body.current?.scrollTo({ top: 0 });
    showWaiting();
  };
  const runs = page.data?.data;

  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Runs</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          <LostBadge stream={stream} />
          <Button
            kind="ghost"
            aria-pressed={live}
            onClick={() => setLive(!live)}
            title={live ? "Pause the list" : "Follow the list"}
          >
            {live ? (
              <Pause aria-hidden className="size-4" strokeWidth={1.5} />
            ) : (
              <Play aria-hidden className="size-4" strokeWidth={1.5} />
            )}
            {live ? "Live" : "Paused"}
            {live && stream === "open" && <LiveDot />}
          </Button>
        </div>
      </SheetHead>
      <SheetBar>
        <StatusFilter status={status} onChange={(next) => onSearch({ status: next })} />
        {status && (
          <Button kind="ghost" size="sm" className="ml-auto" onClick={() => onSearch({})}>
            Clear
          </Button>
        )}
      </SheetBar>
      {page.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote
            title={runs ? "The list is not up to date" : "The runs cannot be shown"}
            error={page.error}
            onRetry={() => void page.refetch()}
          />
        </div>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        {waiting > 0 && (
          <Button
            kind="primary"
            size="sm"
            className="enter absolute top-10 left-1/2 z-(--z-rail) -translate-x-1/2 rounded-full! shadow-2"
            onClick={showNew}
          >
            {waiting} new
          </Button>
        )}
        <section ref={body} aria-label="Runs" className="min-h-0 flex-1 overflow-y-auto focus-visible:shadow-none">
          {page.isPending && <RunsTableSkeleton />}
          {runs && runs.length > 0 && <RunsTable runs={runs} fresh={fresh} />}
          {runs?.length === 0 &&
            (status || after || before ? <NoMatch status={status} onClear={() => onSearch({})} /> : <NoRuns />)}
        </section>
      </div>
      <RunsFoot page={page.data} search={stable} onSearch={onSearch} />
    </>
  );
}
