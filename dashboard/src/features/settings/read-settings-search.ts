import { given, type PageSearch, readChoice, readForm, readPageSearch, readText } from "../../lib/page-search.ts";

const settingsTabs = [
  "project",
  "limits",
  "retention",
  "connections",
  "prices",
  "people",
  "audit",
  "cluster",
  "server",
] as const;
export type SettingsTab = (typeof settingsTabs)[number];
const searched: ReadonlySet<SettingsTab> = new Set(["prices", "people", "connections"]);

/** What of the settings lies in the address; the filters are the audit log's, `q` is the search of a tab that lists. */
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
  const chosen = given({
    tab: tab === "project" ? undefined : tab,
    q: tab && searched.has(tab) ? readText(search.q) : undefined,
  });
  if (tab !== "audit") return chosen;
  return given({
    ...chosen,
    request: readText(search.request),
    action: readForm(search.action, /^[a-z_]+\.[a-z_]+$/),
    actor: readText(search.actor),
    target: readText(search.target),
    ...readPageSearch(search, "aud"),
  });
}
