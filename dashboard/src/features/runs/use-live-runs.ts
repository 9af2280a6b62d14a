import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { fetchRuns, pageSize, runApi, runsQuery } from "../../entities/run/run-api.ts";
import { isIndexed, type RunsSearch } from "../../entities/run/runs-search.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import { followStream, type StreamState } from "../../lib/events.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { foldLiveRun, type LiveRuns } from "./fold-live-run.ts";

const flushEveryMs = 1000;
const firstFlushMs = 120;
const indexedAfterMs = 4500;
/** Number of changed runs above which one page is fetched instead of single runs. */
const singleReads = 3;

/** A page of runs that updates itself while `live`. `isAtTop` returns true if rows may be inserted. */
export function useLiveRuns(search: RunsSearch, live: boolean, isAtTop: () => boolean) {
  const at = useWorkspace();
  const client = useQueryClient();
  const page = useQuery(runsQuery(at, search));
  const [stream, setStream] = useState<StreamState>("connecting");
  const [waiting, setWaiting] = useState<string[]>([]);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef({ at, search, isAtTop, waiting });
  latest.current = { at, search, isAtTop, waiting };

  const fold = useCallback(
    ({ listed, single }: Changed) => {
      const { at, search, isAtTop, waiting } = latest.current;
      const key = runsQuery(at, search).queryKey;
      const before = client.getQueryData(key);
      if (!before) return;
      const rules = { firstPage: growsAtTop(search), atTop: isAtTop(), limit: pageSize };
      const previousIds = new Set(before.data.map((run) => run.id));
      // Drop runs that left the list while they were fetched.
      const runs = [...listed, ...single.filter(({ id }) => previousIds.has(id))];
      const start: LiveRuns = { shown: before.data, waiting, hasMore: before.has_more };
      const after = runs.toReversed().reduce((list, run) => foldLiveRun(list, run, rules), start);
      client.setQueryData(key, {
        ...before,
        data: after.shown,
        has_more: after.hasMore,
        first_id: after.shown[0]?.id ?? null,
        last_id: after.shown.at(-1)?.id ?? null,
      });
      const added = after.shown.filter((run) => !previousIds.has(run.id)).map((run) => run.id);
      if (added.length) {
        setFresh((ids) => new Set([...ids, ...added]));
        void client.invalidateQueries({ queryKey: runApi.key(at, "count") });
      }
      setWaiting(after.waiting);
    },
    [client],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new filter or page starts with nothing waiting.
  useEffect(() => {
    setWaiting([]);
    setFresh(new Set());
  }, [search, at]);

  useEffect(() => {
    if (!live) return;
    let settling: ReturnType<typeof setTimeout> | undefined;
    let again = false;
    // The search index contains a run some seconds after its end, on a busy server later: refetch twice. A change
    // during the wait restarts it.
    const settle = (looks = 2) => {
      if (!isIndexed(latest.current.search)) return;
      again = settling !== undefined;
      settling ??= setTimeout(() => {
        settling = undefined;
        for (const list of ["page", "count"]) void client.invalidateQueries({ queryKey: runApi.key(at, list) });
        if (again) settle();
        else if (looks > 1) settle(looks - 1);
      }, indexedAfterMs);
    };
    const stop = followChanges(
      at,
      setStream,
      (ids) => {
        settle();
        const { search } = latest.current;
        return readChanged(client, latest.current, ids).then((changed) => {
          if (latest.current.search === search) fold(changed);
        });
      },
      () => void client.invalidateQueries(sessionQuery),
      () => void client.invalidateQueries({ queryKey: runsQuery(at, latest.current.search).queryKey }),
    );
    return () => {
      clearTimeout(settling);
      stop();
    };
  }, [at, live, client, fold]);

  const showWaiting = () => {
    setWaiting([]);
    void page.refetch();
  };
  return { page, stream: live ? stream : "ended", waiting: waiting.length, fresh, showWaiting } as const;
}

/** True if new runs appear on this page: the first one, newest first. */
const growsAtTop = ({ after, before, sort, order }: RunsSearch): boolean => !after && !before && !sort && !order;

/** Collects changed ids from the event stream and passes them on at most once a second. */
function followChanges(
  at: Workspace,
  onState: (state: StreamState) => void,
  onChanged: (ids: string[]) => Promise<void>,
  onRefused: () => void,
  onReopened: () => void,
): () => void {
  const changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastFlush = 0;
  let opened = false;
  const flush = () => {
    timer = undefined;
    lastFlush = Date.now();
    const ids = [...changed];
    changed.clear();
    // A failed fetch is repeated with the next change; the stream state reports lost connections.
    onChanged(ids).catch(() => {});
  };
  const stop = followStream<{ id: string; data: { id: string } }>({
    url: resourceUrl(at, "/runs/live"),
    events: ["run"],
    onFrame: ({ data }) => {
      changed.add(data.id);
      timer ??= setTimeout(flush, Math.max(firstFlushMs, lastFlush + flushEveryMs - Date.now()));
    },
    onState: (state) => {
      onState(state);
      // This stream cannot resume: refetch changes made during the disconnect.
      if (state === "open" && opened) onReopened();
      if (state === "open") opened = true;
    },
    onRefused,
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** Changed runs: those of the current page, and shown ones that were fetched singly. */
interface Changed {
  listed: Run[];
  single: Run[];
}

async function readChanged(
  client: ReturnType<typeof useQueryClient>,
  { at, search }: { at: Workspace; search: RunsSearch },
  ids: string[],
): Promise<Changed> {
  const cachedIds = new Set(client.getQueryData(runsQuery(at, search).queryKey)?.data.map((run) => run.id));
  const visibleIds = ids.filter((id) => cachedIds.has(id));
  const needsPage = visibleIds.length > singleReads || (growsAtTop(search) && visibleIds.length < ids.length);
  const listed = needsPage ? (await fetchRuns(at, search)).data : [];
  const missing = visibleIds.filter((id) => !listed.some((run) => run.id === id));
  const single = await Promise.all(missing.map((id) => get<Run>(runApi.url(at, id))));
  return { listed, single };
}
