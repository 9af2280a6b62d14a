import { type PageSearch, readChoice, readPageSearch } from "../../lib/page-search.ts";

export const outcomes = ["started", "completed", "failed", "cancelled", "skipped", "missed"] as const;
/** The result of a time of a schedule. */
export type Outcome = (typeof outcomes)[number];

/** Which times of a schedule are listed. */
export interface ScheduleSearch extends PageSearch {
  outcome?: Outcome;
}

/** The page of the list in an address. */
export const readSchedulesSearch = (search: Record<string, unknown>): PageSearch => readPageSearch(search, "sch");

/** The filter and the page of a schedule's times in an address. */
export function readScheduleSearch(search: Record<string, unknown>): ScheduleSearch {
  const outcome = readChoice(search.outcome, outcomes);
  return { ...(outcome && { outcome }), ...readPageSearch(search, "fire") };
}
