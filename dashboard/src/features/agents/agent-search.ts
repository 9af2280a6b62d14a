import type { PeriodSearch } from "../../entities/analytics/period.ts";

export const agentTabs = ["definition", "versions", "releases", "runs", "analytics", "chat"] as const;
export type AgentTab = (typeof agentTabs)[number];

/** The query parameters of an agent's page. */
export interface AgentSearch extends PeriodSearch {
  tab?: AgentTab;
  /** The selected version; `against` is the version that it is compared with. */
  version?: number;
  against?: number;
  /** The selected label. */
  label?: string;
}
