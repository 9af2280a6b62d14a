import { toolTypes } from "../../../../server/domain/agent-snapshot.ts";
import { readPeriod } from "../../entities/analytics/period.ts";
import { type NewToolSearch, type ToolSearch, type ToolsSearch, toolTabs } from "../../entities/tool/tools-search.ts";
import { omitUndefined, readChoice, readNamedSearch, readText } from "../../lib/page-search.ts";

/** Parses the search parameters of the list. */
export const readToolsSearch = (search: Record<string, unknown>): ToolsSearch =>
  omitUndefined({ ...readNewToolSearch(search), ...readNamedSearch(search, "tool") });

/** Parses the search parameters of a tool's page. */
export const readToolSearch = (search: Record<string, unknown>): ToolSearch =>
  omitUndefined({ tab: readChoice(search.tab, toolTabs), tool: readText(search.tool, 256), ...readPeriod(search) });

/** Parses the search parameters of the page for a new tool. */
export const readNewToolSearch = (search: Record<string, unknown>): NewToolSearch =>
  omitUndefined({ type: readChoice(search.type, toolTypes) });
