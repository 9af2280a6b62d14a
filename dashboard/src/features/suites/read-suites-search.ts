import { type CaseStatus, caseStatuses } from "../../../../server/domain/api-types/enums.ts";
import { type NamedSearch, omitUndefined, readChoice, readId, readNamedSearch } from "../../lib/page-search.ts";

/** Search parameters of a suite's page: suite run, outcome filter and open case. */
export interface SuiteSearch {
  /** Suite run whose outcomes are shown; absent: the last one. */
  result?: string;
  outcome?: CaseStatus;
  /** Run id of the open case. */
  case?: string;
}

/** Parses the search parameters of the list. */
export const readSuitesSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "sui");

/** Parses the search parameters of a suite's page; invalid values are omitted. */
export const readSuiteSearch = (search: Record<string, unknown>): SuiteSearch =>
  omitUndefined({
    result: readId(search.result, "suite_run"),
    outcome: readChoice(search.outcome, caseStatuses),
    case: readId(search.case, "run"),
  });
