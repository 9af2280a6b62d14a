import type { PeriodSearch } from "../../entities/analytics/period.ts";

export const agentTabs = ["definition", "versions", "runs", "analytics", "chat"] as const;
type AgentTab = (typeof agentTabs)[number];

/** What the address of an agent holds. */
export interface AgentSearch extends PeriodSearch {
  tab?: AgentTab;
  /** The version that is looked at, and the one that it is compared with. */
  version?: number;
  against?: number;
}
