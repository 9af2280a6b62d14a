import { type PageSearch, readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

const settingsTabs = ["project", "limits", "retention", "connections", "prices", "people", "audit", "server"] as const;
export type SettingsTab = (typeof settingsTabs)[number];

/** What of the settings lies in the address; the filters are the audit log's, `q` is the search of prices. */
export interface SettingsSearch extends PageSearch {
  tab?: SettingsTab;
  action?: string;
  actor?: string;
  target?: string;
  request?: string;
  q?: string;
}

/** Reads an address; what is none is left out, and so is what another tab's address said. */
export function readSettingsSearch(search: Record<string, unknown>): SettingsSearch {
  const tab = readChoice(search.tab, settingsTabs);
  const q = tab === "prices" ? readText(search.q) : undefined;
  const chosen = { ...(tab && tab !== "project" && { tab }), ...(q && { q }) };
  if (tab !== "audit") return chosen;
  const [action, actor, target] = [readText(search.action), readText(search.actor), readText(search.target)];
  const request = readText(search.request);
  return {
    ...chosen,
    ...(request && { request }),
    ...(action && /^[a-z_]+\.[a-z_]+$/.test(action) && { action }),
    ...(actor && { actor }),
    ...(target && { target }),
    ...readPageSearch(search, "aud"),
  };
}
