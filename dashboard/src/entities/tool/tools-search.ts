import type { ToolType } from "../../../../server/core/agent-snapshot.ts";
import type { PageSearch } from "../../lib/page-search.ts";

/** What the address of the list holds. */
export interface ToolsSearch extends PageSearch {
  type?: ToolType;
}

export const toolTabs = ["definition", "test"] as const;
type ToolTab = (typeof toolTabs)[number];

/** What the address of a tool holds. */
export interface ToolSearch {
  tab?: ToolTab;
  /** Of an MCP server, the tool that is tried. */
  tool?: string;
}

/** What the address of a new tool holds. */
export interface NewToolSearch {
  type?: ToolType;
}
