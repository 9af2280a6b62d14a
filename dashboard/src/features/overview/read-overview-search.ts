import { given, readChoice } from "../../lib/page-search.ts";

const periods = ["today", "7d", "30d"] as const;
export type Period = (typeof periods)[number];

/** What the address of the overview holds. */
export interface OverviewSearch {
  period?: Period;
  /** Tables in the charts' places. */
  v?: "table";
}

/** Reads it; what is none is left out, and so is what goes without saying. */
export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const period = readChoice(search.period, periods);
  return given({ period: period === "7d" ? undefined : period, v: readChoice(search.v, ["table"] as const) });
}
