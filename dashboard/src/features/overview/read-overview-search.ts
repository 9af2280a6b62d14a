import { type PeriodSearch, readPeriod } from "../../entities/analytics/period.ts";
import { omitUndefined, readChoice } from "../../lib/page-search.ts";

/** The query parameters of the overview. */
export interface OverviewSearch extends PeriodSearch {
  /** Tables instead of charts. */
  v?: "table";
}

/** Reads the query parameters. Drops invalid values and defaults. */
export const readOverviewSearch = (search: Record<string, unknown>): OverviewSearch => ({
  ...readPeriod(search),
  ...omitUndefined({ v: readChoice(search.v, ["table"] as const) }),
});
