import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { useCallback, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { ListHead } from "../../entities/resource/list-head.tsx";
import { filtersOf, hasText, isFiltered, type RunsSearch } from "../../entities/run/runs-search.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { NewRows } from "../../ui/new-rows.tsx";
import { Paging } from "../../ui/paging.tsx";
import { LiveDot, LostBadge } from "../../ui/stream-badge.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { EraseUser } from "./erase-user.tsx";
import { LookFurther } from "./look-further.tsx";
import { NoMatch, NoRuns, NoText } from "./no-runs.tsx";
import { RunsFilters } from "./runs-filters.tsx";
import { RunsTable, RunsTableSkeleton } from "./runs-table.tsx";
import { useFurther } from "./use-further.ts";
import { useLiveRuns } from "./use-live-runs.ts";

interface RunsPageProps {
  search: RunsSearch;
  /** `replace`: the way back leads past it. */
  onSearch: (search: RunsSearch, replace?: boolean) => void;
  onOpenRun: (runId: string) => void;
  onCompare: (runId: string, otherId: string) => void;
  onPin: (runs: Run[]) => void;
}

/** All runs of a project and mode, newest first, as they happen. */
export function RunsPage({ search, onSearch, onOpenRun, onCompare, onPin }: RunsPageProps) {
  const [live, setLive] = useState(true);
  const body = useRef<HTMLDivElement>(null);
  const asked = useAsked(search);
  const { page, stream, waiting, fresh, showWaiting } = useLiveRuns(
    asked,
    live,
    () => (body.current?.scrollTop ?? 0) < 8,
  );
  const runs = page.data?.data;
  const text = search.q?.trim() ?? "";
  const fits = useFits(text);
  const further = useFurther(asked, page.data, fits);
  const looked = text ? further.all : runs;
  const shown = text ? looked?.filter(fits) : runs;
  const selection = useSelection(shown ?? noRuns);
  const mayRun = useMay("member");
  useRowKeys(body);
  useKeys({
    x: () => {
      const id = document.activeElement?.closest<HTMLElement>("[data-run]")?.dataset.run;
      if (id) selection.toggle({ id });
    },
    ...(selection.ids.size > 0 && { Escape: selection.clear }),
  });
  const filter = (change: RunsSearch) => onSearch({ ...filtersOf(search), q: search.q, ...change });
  const showNew = () => {
    body.current?.scrollTo({ top: 0 });
    showWaiting();
  };

  return (
    <>
      <ListHead title="Runs">
        <LostBadge stream={stream} />
        <Button aria-pressed={live} onClick={() => setLive(!live)} title={live ? "Pause the list" : "Follow the list"}>
          {!live && <Play aria-hidden className="size-4" strokeWidth={1.5} />}
          {live && stream !== "open" && <Pause aria-hidden className="size-4" strokeWidth={1.5} />}
          {live && stream === "open" && <LiveDot />}
          {live ? "Live" : "Paused"}
        </Button>
        {mayRun && search.user && <EraseUser key={search.user} userId={search.user} />}
        {mayRun && (
          <Link to="/playground" className={buttonClass({ kind: "primary" })}>
            New run
          </Link>
        )}
      </ListHead>
      <RunsFilters
        search={search}
        onFilter={filter}
        onText={(q) => onSearch({ ...search, q: q || undefined }, true)}
        onOpenRun={onOpenRun}
      />
      <ErrorNote
        inset
        title={runs ? "The list is not up to date" : "The runs cannot be shown"}
        error={page.error}
        onRetry={() => void page.refetch()}
      />
      <div className="relative flex min-h-0 flex-1 flex-col">
        <NewRows count={waiting} onShow={showNew} />
        <section
          ref={body}
          aria-label="Runs"
          className="min-h-0 flex-1 overflow-y-auto focus-visible:shadow-none has-[+[role=toolbar]]:pb-16"
        >
          {page.isPending && !page.error && <RunsTableSkeleton />}
          {shown && shown.length > 0 && (
            <RunsTable
              runs={shown}
              fresh={fresh}
              selected={selection.ids}
              onSelect={selection.toggle}
              onSelectAll={selection.selectAll}
            />
          )}
          {runs && shown?.length === 0 && <Empty {...{ runs, search, onSearch, isAll: !further.hasMore }} />}
          {text && looked && looked.length > 0 && (
            <LookFurther
              text={text}
              found={shown?.length ?? 0}
              looked={looked}
              hasMore={further.hasMore}
              isLooking={further.isLooking}
              error={further.error}
              onLook={further.look}
            />
          )}
        </section>
        {selection.runs.length > 0 && (
          <BulkBar runs={selection.runs} onCompare={onCompare} onPin={onPin} onClear={selection.clear} />
        )}
      </div>
      <Paging
        noun="run"
        page={page.data}
        search={asked}
        onPage={(place) => onSearch({ ...filtersOf(search), q: search.q, ...place })}
      />
    </>
  );
}

const noRuns: Run[] = [];

/** What the server is asked for, the same object as long as that is the same. */
function useAsked(search: RunsSearch): RunsSearch {
  const { status, agent, since, until, user, thread, origin, after, before } = search;
  return useMemo(
    () => ({ status, agent, since, until, user, thread, origin, after, before }),
    [status, agent, since, until, user, thread, origin, after, before],
  );
}

/** Whether a run has a text; with no text, each does. */
function useFits(text: string): (run: Run) => boolean {
  const at = useWorkspace();
  const { data: agents } = useQuery(newestAgentsQuery(at));
  const names = useMemo(() => new Map(agents?.data.map(({ id, name }) => [id, name])), [agents]);
  return (run) => text === "" || hasText(run, names.get(run.agent_id) ?? "", text);
}

function Empty({
  runs,
  search,
  isAll,
  onSearch,
}: { runs: Run[]; isAll: boolean } & Pick<RunsPageProps, "search" | "onSearch">) {
  if (runs.length > 0)
    return <NoText text={search.q ?? ""} isAll={isAll} onClear={() => onSearch({ ...search, q: undefined }, true)} />;
  if (!isFiltered(search) && !search.after && !search.before) return <NoRuns />;
  return (
    <NoMatch
      search={search}
      onClear={() => onSearch({})}
      onWiden={() => onSearch({ ...filtersOf(search), since: "7d" })}
    />
  );
}

/** The rows that are selected, as long as they are shown. */
function useSelection(shown: readonly Run[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(({ id }: Pick<Run, "id">) => {
    setIds((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);
  const selectAll = (all: boolean) => setIds(new Set(all ? shown.map(({ id }) => id) : []));
  const clear = useCallback(() => setIds(new Set()), []);
  return { ids, runs: shown.filter(({ id }) => ids.has(id)), toggle, selectAll, clear };
}
