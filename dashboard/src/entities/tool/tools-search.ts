import type { ToolType } from "../../../../server/core/agent-snapshot.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import type { PeriodSearch } from "../analytics/period.ts";

/** What the address of the list holds. */
export interface ToolsSearch extends NamedSearch {
  type?: ToolType;
}

export const toolTabs = ["definition", "test", "analytics"] as const;
type ToolTab = (typeof toolTabs)[number];

/** What the address of a tool holds. */
export interface ToolSearch extends PeriodSearch {
  tab?: ToolTab;
  /** Of an MCP server, the tool that is tried. */
  tool?: string;
}

/** What the address of a new tool holds. */
export interface NewToolSearch {
  type?: ToolType;
}
