import { omitUndefined, type PageSearch, readChoice, readPageSearch } from "../../lib/page-search.ts";

/** Search parameters of a list of outcomes. */
export interface OutcomeSearch<Outcome extends string> extends PageSearch {
  outcome?: Outcome;
}

/** Parses the search parameters of a list with these outcomes, whose ids begin with `prefix`. */
export const readOutcomeSearch = <Outcome extends string>(
  search: Record<string, unknown>,
  outcomes: readonly Outcome[],
  prefix: string,
): OutcomeSearch<Outcome> =>
  omitUndefined({ outcome: readChoice(search.outcome, outcomes), ...readPageSearch(search, prefix) });
