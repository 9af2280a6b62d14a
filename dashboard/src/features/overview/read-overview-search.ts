import { type PeriodSearch, readPeriod } from "../../entities/analytics/period.ts";
import { given, readChoice } from "../../lib/page-search.ts";

/** What the address of the overview holds. */
export interface OverviewSearch extends PeriodSearch {
  /** Tables in the charts' places. */
  v?: "table";
}

/** Reads it; what is none is left out, and so is what goes without saying. */
export const readOverviewSearch = (search: Record<string, unknown>): OverviewSearch => ({
  ...readPeriod(search),
  ...given({ v: readChoice(search.v, ["table"] as const) }),
});
