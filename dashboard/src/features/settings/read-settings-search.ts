import {
  omitUndefined,
  type PageSearch,
  readChoice,
  readForm,
  readPageSearch,
  readText,
} from "../../lib/page-search.ts";

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

/** Search parameters of the settings. The filters belong to the audit log; `q` searches the lists. */
export interface SettingsSearch extends PageSearch {
  tab?: SettingsTab;
  action?: string;
  actor?: string;
  target?: string;
  request?: string;
  q?: string;
}

/** Parses the search parameters; invalid values and those of other tabs are omitted. */
export function readSettingsSearch(search: Record<string, unknown>): SettingsSearch {
  const tab = readChoice(search.tab, settingsTabs);
  const commonSearch = omitUndefined({
    tab: tab === "project" ? undefined : tab,
    q: tab && searched.has(tab) ? readText(search.q) : undefined,
  });
  if (tab !== "audit") return commonSearch;
  return omitUndefined({
    ...commonSearch,
    request: readText(search.request),
    action: readForm(search.action, /^[a-z_]+\.[a-z_]+$/),
    actor: readText(search.actor),
    target: readText(search.target),
    ...readPageSearch(search, "aud"),
  });
}
