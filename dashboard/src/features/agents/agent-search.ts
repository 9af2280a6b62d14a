export const agentTabs = ["definition", "versions", "runs", "chat"] as const;
type AgentTab = (typeof agentTabs)[number];

/** What the address of an agent holds. */
export interface AgentSearch {
  tab?: AgentTab;
  /** The version that is looked at, and the one that it is compared with. */
  version?: number;
  against?: number;
}
