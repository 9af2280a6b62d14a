import { type Outcome, outcomes } from "../../../../server/domain/api-types/enums.ts";
import {
  type NamedSearch,
  omitUndefined,
  type PageSearch,
  readChoice,
  readNamedSearch,
  readPageSearch,
} from "../../lib/page-search.ts";

/** Search parameters of a schedule's runs. */
export interface ScheduleSearch extends PageSearch {
  outcome?: Outcome;
}

/** Parses the search parameters of the list. */
export const readSchedulesSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "sch");

/** Parses the search parameters of a schedule's runs. */
export const readScheduleSearch = (search: Record<string, unknown>): ScheduleSearch =>
  omitUndefined({ outcome: readChoice(search.outcome, outcomes), ...readPageSearch(search, "fire") });
