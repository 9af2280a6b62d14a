import { type CaseStatus, caseStatuses } from "../../../../server/wire/names.ts";
import { given, type NamedSearch, readChoice, readId, readNamedSearch } from "../../lib/page-search.ts";

/** Which cases of a suite are listed, what of them is told, and the one that is looked at. */
export interface SuiteSearch {
  /** The suite run whose outcomes stand beside the cases; without it, the last one. */
  result?: string;
  outcome?: CaseStatus;
  /** The pinned run of the case that is looked at. */
  case?: string;
}

/** The page of the list in an address. */
export const readSuitesSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "sui");

/** What the address of a suite says; what is none of it is left out. */
export const readSuiteSearch = (search: Record<string, unknown>): SuiteSearch =>
  given({
    result: readId(search.result, "suite_run"),
    outcome: readChoice(search.outcome, caseStatuses),
    case: readId(search.case, "run"),
  });
