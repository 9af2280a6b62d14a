import type { RerankType } from "../../../../server/core/agent-snapshot.ts";
import type { entryStatuses, searchModes } from "../../../../server/wire/names.ts";
import type { NamedSearch, PageSearch } from "../../lib/page-search.ts";

export const memoryKinds = ["vector", "kv"] as const;
export type MemoryKind = (typeof memoryKinds)[number];

/** What the address of the list holds. */
export interface StoresSearch extends NamedSearch {
  kind?: MemoryKind;
}

export const memoryTabs = ["entries", "search", "keys", "settings"] as const;
export type MemoryTab = (typeof memoryTabs)[number];

type EntryStatus = (typeof entryStatuses)[number];

export type SearchMode = (typeof searchModes)[number];

/** What the address of a store holds. */
export interface StoreSearch extends PageSearch {
  tab?: MemoryTab;
  /** Whose part of it: a user or a session. */
  of?: string;
  status?: EntryStatus;
  /** What is searched for; of keys, their beginning. */
  q?: string;
  mode?: SearchMode;
  /** What puts the passages found into a better order. */
  rerank?: RerankType;
  /** Its model. */
  by?: string;
  /** JSON. */
  filter?: string;
}
