import { rerankTypes } from "../../../../server/core/agent-snapshot.ts";
import { entryStatuses, searchModes } from "../../../../server/wire/names.ts";
import { memoryKinds, memoryTabs, type StoreSearch, type StoresSearch } from "../../entities/memory/memory-search.ts";
import { given, readChoice, readNamedSearch, readText } from "../../lib/page-search.ts";

/** Of the list's address. */
export const readStoresSearch = (search: Record<string, unknown>): StoresSearch =>
  given({ kind: readChoice(search.kind, memoryKinds), ...readNamedSearch(search, "mem") });

/** Of a store's address. The cursors of keys are keys, which may be any text. */
export function readStoreSearch(search: Record<string, unknown>): StoreSearch {
  const after = readText(search.after, 512);
  return given({
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
