import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";

/** Rows of a live list, and ids of new runs held back until the reader asks for them. */
export interface LiveRuns {
  shown: Run[];
  waiting: string[];
  /** True if older runs follow on another page. */
  hasMore: boolean;
}

export interface LiveRules {
  /** True on the first page while scrolled to the top: only then may a row be inserted. */
  atTop: boolean;
  /** False on later pages: new runs belong to the first. */
  firstPage: boolean;
  limit: number;
}

/**
 * Applies a changed run that matches the filters. A shown run is updated in place, even if it left the filter, so that
 * rows never move under the pointer. A new run is inserted by age, or counted while the list is scrolled.
 */
export function foldLiveRun(list: LiveRuns, run: Run, rules: LiveRules): LiveRuns {
  const index = list.shown.findIndex((listedRun) => listedRun.id === run.id);
  if (index >= 0) return { ...list, shown: list.shown.with(index, run) };
  const oldest = list.shown.at(-1);
  const onThisPage = !oldest || list.shown.length < rules.limit || run.id > oldest.id;
  if (!rules.firstPage) return list;
  if (!onThisPage) return { ...list, hasMore: true };
  if (!rules.atTop) return list.waiting.includes(run.id) ? list : { ...list, waiting: [...list.waiting, run.id] };
  const place = list.shown.findIndex((visibleRuns) => visibleRuns.id < run.id);
  const shown = list.shown.toSpliced(place < 0 ? list.shown.length : place, 0, run);
  return {
    shown: shown.slice(0, rules.limit),
    waiting: list.waiting.filter((id) => id !== run.id),
    hasMore: list.hasMore || shown.length > rules.limit,
  };
}
