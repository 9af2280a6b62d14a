import { toolTypes } from "../../../../server/core/agent-snapshot.ts";
import { readPeriod } from "../../entities/analytics/period.ts";
import { type NewToolSearch, type ToolSearch, type ToolsSearch, toolTabs } from "../../entities/tool/tools-search.ts";
import { given, readChoice, readNamedSearch, readText } from "../../lib/page-search.ts";

/** Of the list's address. */
export const readToolsSearch = (search: Record<string, unknown>): ToolsSearch =>
  given({ ...readNewToolSearch(search), ...readNamedSearch(search, "tool") });

/** Of a tool's address. */
export const readToolSearch = (search: Record<string, unknown>): ToolSearch =>
  given({ tab: readChoice(search.tab, toolTabs), tool: readText(search.tool, 256), ...readPeriod(search) });

/** Of a new tool's address. */
export const readNewToolSearch = (search: Record<string, unknown>): NewToolSearch =>
  given({ type: readChoice(search.type, toolTypes) });
