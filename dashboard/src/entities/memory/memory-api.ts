import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { RerankType } from "../../../../server/core/agent-snapshot.ts";
import type {
  MemoryEntry as Entry,
  MemoryKey as KeyValue,
  MemoryMatches,
  Memory as Store,
} from "../../../../server/wire/memory.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { get, patch, post, put, query, remove } from "../../lib/api.ts";
import { pageQuery } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";
import type { SearchMode, StoreSearch, StoresSearch } from "./memory-search.ts";

const pageSize = 50;
const soon_ms = 1500;

export const storeApi = resource<Store>("memory", ({ name }) => name);

/** A page of stores; read again while one of them is indexed anew. */
export const storesQuery = (at: At, { kind, ...page }: StoresSearch) =>
  queryOptions({
    ...storeApi.page(at, page, { kind }),
    refetchInterval: ({ state }) => (state.data?.data.some(({ indexing }) => indexing) ? soon_ms : false),
  });

/** One store. */
export const storeQuery = (at: At, id: string) =>
  queryOptions({
    ...storeApi.one(at, id),
    refetchInterval: ({ state }) => (state.data?.indexing ? soon_ms : false),
  });

/** A page of a store's entries; read again while one of them is not done. */
export function entriesQuery(at: At, id: string, { of, status, after, before }: StoreSearch) {
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

/** A model that puts what was found into a better order. */
interface Rerank {
  model: string;
  type?: RerankType;
}

/** The passages that fit best. */
export function matchesQuery(at: At, id: string, order: SearchOrder) {
  return queryOptions({
    queryKey: [...storeApi.of(at, id).queryKey, "search", order],
    queryFn: () => post<MemoryMatches>(storeApi.url(at, id, `/search`), order),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** A page of a store's keys, by name. */
export function keysQuery(at: At, id: string, { of, q, after, before }: StoreSearch) {
  const values = { limit: pageSize, order: "asc", scope_id: of, prefix: q, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...storeApi.of(at, id).queryKey, "keys", values],
    queryFn: ({ signal }) => get<List<KeyValue>>(storeApi.url(at, id, `/keys${query(values)}`), signal),
    // The pages of other lists are by ids; of this one, by names.
    select: (page) => ({ ...page, data: page.data.map((each) => ({ ...each, id: each.key })) }),
    retry: false,
  });
}

export const addEntry = (at: At, id: string, body: object): Promise<Entry> =>
  post(storeApi.url(at, id, `/entries`), body);
const entryUrl = (at: At, id: string, entry: string) => storeApi.url(at, id, `/entries/${encodeURIComponent(entry)}`);
export const changeEntry = (at: At, id: string, entry: string, change: object): Promise<Entry> =>
  patch(entryUrl(at, id, entry), change);
export const deleteEntry = (at: At, id: string, entry: string): Promise<unknown> => remove(entryUrl(at, id, entry));

/** Where a key stands, within a user's or session's part of its store. */
interface KeyPlace {
  store: string;
  key: string;
  of?: string;
}

const keyUrl = (at: At, { store, key, of }: KeyPlace) =>
  storeApi.url(at, store, `/keys/${encodeURIComponent(key)}${query({ scope_id: of })}`);

export const readKey = (at: At, place: KeyPlace): Promise<KeyValue> => get(keyUrl(at, place));

/** Writes over this version alone; 0: only where there is no such key. */
export const writeKey = (at: At, place: KeyPlace, body: object, version: number): Promise<KeyValue> =>
  put(keyUrl(at, place), body, { "If-Match": String(version) });

export const deleteKey = (at: At, place: KeyPlace, version: number): Promise<unknown> =>
  remove(keyUrl(at, place), { "If-Match": String(version) });
