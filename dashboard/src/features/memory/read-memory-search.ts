import { memoryKindNames, rerankTypes } from "../../../../server/domain/agent-snapshot.ts";
import { entryStatuses, searchModes } from "../../../../server/domain/api-types/enums.ts";
import { memoryTabs, type StoreSearch, type StoresSearch } from "../../entities/memory/memory-search.ts";
import { omitUndefined, readChoice, readNamedSearch, readText } from "../../lib/page-search.ts";

/** Reads the query parameters of the list. */
export const readStoresSearch = (search: Record<string, unknown>): StoresSearch =>
  omitUndefined({ kind: readChoice(search.kind, memoryKindNames), ...readNamedSearch(search, "mem") });

/** Reads the query parameters of a store's page. Cursors of keys are keys themselves, so they may be any text. */
export function readStoreSearch(search: Record<string, unknown>): StoreSearch {
  const after = readText(search.after, 512);
  return omitUndefined({
    tab: readChoice(search.tab, memoryTabs),
    of: readText(search.of, 255),
    status: readChoice(search.status, entryStatuses),
    q: readText(search.q, 8192),
    mode: readChoice(search.mode, searchModes),
    rerank: readChoice(search.rerank, rerankTypes),
    by: readText(search.by, 300),
    filter: typeof search.filter === "object" ? JSON.stringify(search.filter) : readText(search.filter, 4096),
    after,
    before: after ? undefined : readText(search.before, 512),
  });
}
