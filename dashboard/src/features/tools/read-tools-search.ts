import { toolTypes } from "../../../../server/core/agent-snapshot.ts";
import { type NewToolSearch, type ToolSearch, type ToolsSearch, toolTabs } from "../../entities/tool/tools-search.ts";
import { readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

/** Of the list's address. */
export function readToolsSearch(search: Record<string, unknown>): ToolsSearch {
  return { ...readNewToolSearch(search), ...readPageSearch(search, "tool") };
}

/** Of a tool's address. */
export function readToolSearch(search: Record<string, unknown>): ToolSearch {
  const tab = readChoice(search.tab, toolTabs);
  const tool = readText(search.tool, 256);
  return { ...(tab && { tab }), ...(tool && { tool }) };
}

/** Of a new tool's address. */
export function readNewToolSearch(search: Record<string, unknown>): NewToolSearch {
  const type = readChoice(search.type, toolTypes);
  return type ? { type } : {};
}
