import { type Outcome, outcomes } from "../../../../server/wire/names.ts";
import {
  given,
  type NamedSearch,
  type PageSearch,
  readChoice,
  readNamedSearch,
  readPageSearch,
} from "../../lib/page-search.ts";

/** Which times of a schedule are listed. */
export interface ScheduleSearch extends PageSearch {
  outcome?: Outcome;
}

/** The page of the list in an address. */
export const readSchedulesSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "sch");

/** The filter and the page of a schedule's times in an address. */
export const readScheduleSearch = (search: Record<string, unknown>): ScheduleSearch =>
  given({ outcome: readChoice(search.outcome, outcomes), ...readPageSearch(search, "fire") });
