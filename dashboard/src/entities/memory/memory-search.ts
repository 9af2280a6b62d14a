import type { MemoryKindName, RerankType } from "../../../../server/domain/agent-snapshot.ts";
import type { entryStatuses, searchModes } from "../../../../server/domain/api-types/enums.ts";
import type { NamedSearch, PageSearch } from "../../lib/page-search.ts";

/** Search parameters of the list. */
export interface StoresSearch extends NamedSearch {
  kind?: MemoryKindName;
}

export const memoryTabs = ["entries", "search", "keys", "settings"] as const;
export type MemoryTab = (typeof memoryTabs)[number];

type EntryStatus = (typeof entryStatuses)[number];

export type SearchMode = (typeof searchModes)[number];

/** Search parameters of a store's page. */
export interface StoreSearch extends PageSearch {
  tab?: MemoryTab;
  /** Scope: id of a user or a session. */
  of?: string;
  status?: EntryStatus;
  /** Search text; for keys, a prefix. */
  q?: string;
  mode?: SearchMode;
  /** Reranker type. */
  rerank?: RerankType;
  /** Reranker model. */
  by?: string;
  /** Metadata filter as JSON. */
  filter?: string;
}
