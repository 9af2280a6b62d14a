import { given, type PageSearch, readChoice, readPageSearch } from "../../lib/page-search.ts";

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
export const readScheduleSearch = (search: Record<string, unknown>): ScheduleSearch =>
  given({ outcome: readChoice(search.outcome, outcomes), ...readPageSearch(search, "fire") });
