import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { RerankType } from "../../../../server/domain/agent-snapshot.ts";
import type {
  MemoryEntry as Entry,
  MemoryKey as KeyValue,
  MemoryMatches,
  Memory as Store,
} from "../../../../server/domain/api-types/memory.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { get, patch, post, put, query, remove } from "../../lib/api.ts";
import { pageQuery } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import type { SearchMode, StoreSearch, StoresSearch } from "./memory-search.ts";

const pageSize = 50;
const soon_ms = 1500;

export const storeApi = resource<Store>("memory", ({ name }) => name);

/** A page of stores; refetched while one of them is being reindexed. */
export const storesQuery = (at: WorkspaceKey, { kind, ...page }: StoresSearch) =>
  queryOptions({
    ...storeApi.page(at, page, { kind }),
    refetchInterval: ({ state }) => (state.data?.data.some(({ indexing }) => indexing) ? soon_ms : false),
  });

/** One store. */
export const storeQuery = (at: WorkspaceKey, id: string) =>
  queryOptions({
    ...storeApi.one(at, id),
    refetchInterval: ({ state }) => (state.data?.indexing ? soon_ms : false),
  });

/** A page of a store's entries; refetched while one of them is being processed. */
export function entriesQuery(at: WorkspaceKey, id: string, { of, status, after, before }: StoreSearch) {
  const values = { limit: pageSize, scope_id: of, status, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...storeApi.of(at, id).queryKey, "entries", values],
    queryFn: ({ signal }) => get<List<Entry>>(storeApi.url(at, id, `/entries${query(values)}`), signal),
    refetchInterval: ({ state }) => (state.data?.data.some((each) => each.status === "processing") ? soon_ms : false),
  });
}

export interface SearchOrder {
  query: string;
  mode?: SearchMode;
  scope_id?: string;
  filter?: object;
  rerank?: Rerank;
}

/** Model that reranks search results. */
interface Rerank {
  model: string;
  type?: RerankType;
}

/** Best matches of a search. */
export function matchesQuery(at: WorkspaceKey, id: string, order: SearchOrder) {
  return queryOptions({
    queryKey: [...storeApi.of(at, id).queryKey, "search", order],
    queryFn: () => post<MemoryMatches>(storeApi.url(at, id, `/search`), order),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** A page of a store's keys, by name. */
export function keysQuery(at: WorkspaceKey, id: string, { of, q, after, before }: StoreSearch) {
  const values = { limit: pageSize, order: "asc", scope_id: of, prefix: q, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...storeApi.of(at, id).queryKey, "keys", values],
    queryFn: ({ signal }) => get<List<KeyValue>>(storeApi.url(at, id, `/keys${query(values)}`), signal),
    // This list is paginated by key name instead of id.
    select: (page) => ({ ...page, data: page.data.map((each) => ({ ...each, id: each.key })) }),
    retry: false,
  });
}

export const addEntry = (at: WorkspaceKey, id: string, body: object): Promise<Entry> =>
  post(storeApi.url(at, id, `/entries`), body);
const entryUrl = (at: WorkspaceKey, id: string, entry: string) =>
  storeApi.url(at, id, `/entries/${encodeURIComponent(entry)}`);
export const changeEntry = (at: WorkspaceKey, id: string, entry: string, change: object): Promise<Entry> =>
  patch(entryUrl(at, id, entry), change);
export const deleteEntry = (at: WorkspaceKey, id: string, entry: string): Promise<unknown> =>
  remove(entryUrl(at, id, entry));

/** Location of a key within a user's or session's scope of a store. */
interface KeyPlace {
  store: string;
  key: string;
  of?: string;
}

const keyUrl = (at: WorkspaceKey, { store, key, of }: KeyPlace) =>
  storeApi.url(at, store, `/keys/${encodeURIComponent(key)}${query({ scope_id: of })}`);

export const readKey = (at: WorkspaceKey, place: KeyPlace): Promise<KeyValue> => get(keyUrl(at, place));

/** Writes if the stored version equals `version`; 0 means that the key must not exist. */
export const writeKey = (at: WorkspaceKey, place: KeyPlace, body: object, version: number): Promise<KeyValue> =>
  put(keyUrl(at, place), body, { "If-Match": String(version) });

export const deleteKey = (at: WorkspaceKey, place: KeyPlace, version: number): Promise<unknown> =>
  remove(keyUrl(at, place), { "If-Match": String(version) });
