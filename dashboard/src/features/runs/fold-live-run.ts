import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/** The rows of a live list, and the ids of new runs that wait until the reader asks for them. */
export interface LiveRuns {
  shown: Run[];
  waiting: string[];
  /** Whether older ones stand on a further page. */
  hasMore: boolean;
}

export interface LiveRules {
  /** True on the first page, scrolled to its top: only there may a row be inserted. */
  atTop: boolean;
  /** False on later pages, where new runs belong to another page. */
  firstPage: boolean;
  limit: number;
}

/**
 * The list after a run changed, which the server's filters let through. A shown run is changed in its place, even if it
 * left the filter: rows never move under the pointer. A new one is put in its place by age, or counted when the list is
 * scrolled.
 */
export function foldLiveRun(list: LiveRuns, run: Run, rules: LiveRules): LiveRuns {
  const index = list.shown.findIndex((shown) => shown.id === run.id);
  if (index >= 0) return { ...list, shown: list.shown.with(index, run) };
  const oldest = list.shown.at(-1);
  const onThisPage = !oldest || list.shown.length < rules.limit || run.id > oldest.id;
  if (!rules.firstPage) return list;
  if (!onThisPage) return { ...list, hasMore: true };
  if (!rules.atTop) return list.waiting.includes(run.id) ? list : { ...list, waiting: [...list.waiting, run.id] };
  const place = list.shown.findIndex((shown) => shown.id < run.id);
  const shown = list.shown.toSpliced(place < 0 ? list.shown.length : place, 0, run);
  return {
    shown: shown.slice(0, rules.limit),
    waiting: list.waiting.filter((id) => id !== run.id),
    hasMore: list.hasMore || shown.length > rules.limit,
  };
}
