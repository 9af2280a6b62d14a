import type { ToolType } from "../../../../server/domain/agent-snapshot.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import type { PeriodSearch } from "../analytics/period.ts";

/** Search parameters of the list. */
export interface ToolsSearch extends NamedSearch {
  type?: ToolType;
}

export const toolTabs = ["definition", "test", "analytics"] as const;
type ToolTab = (typeof toolTabs)[number];

/** Search parameters of a tool's page. */
export interface ToolSearch extends PeriodSearch {
  tab?: ToolTab;
  /** The tool of an MCP server that is being tested. */
  tool?: string;
}

/** Search parameters of the page for a new tool. */
export interface NewToolSearch {
  type?: ToolType;
}
