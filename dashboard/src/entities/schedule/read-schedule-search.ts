import { type Outcome, outcomes } from "../../../../server/domain/api-types/enums.ts";
import { type NamedSearch, readNamedSearch } from "../../lib/page-search.ts";
import { type OutcomeSearch, readOutcomeSearch } from "../automation/outcome-search.ts";

/** Search parameters of a schedule's runs. */
export type ScheduleSearch = OutcomeSearch<Outcome>;

/** Parses the search parameters of the list. */
export const readSchedulesSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "sch");

/** Parses the search parameters of a schedule's runs. */
export const readScheduleSearch = (search: Record<string, unknown>): ScheduleSearch =>
  readOutcomeSearch(search, outcomes, "fire");
