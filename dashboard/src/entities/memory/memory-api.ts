import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, patch, post, put, query, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { pageQuery } from "../../lib/page-search.ts";
import type { List } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { EntryStatus, MemoryKind, SearchMode, StoreSearch, StoresSearch } from "./memory-search.ts";

export const memoryScopes = ["project", "user", "session"] as const;
export type MemoryScope = (typeof memoryScopes)[number];

interface Fault {
  code: string;
  message: string;
}

/** How far a store is with another embedding. */
interface Indexing {
  processed: number;
  total: number;
  model: string;
  dimensions: number;
  error: Fault | null;
}

/** A memory store as the API shows it. */
export interface Store {
  id: string;
  name: string;
  kind: MemoryKind;
  scope: MemoryScope;
  embedding: { model: string; dimensions: number } | null;
  ttl_seconds: number | null;
  entries: number | null;
  keys: number | null;
  indexing: Indexing | null;
  created_at: string;
  updated_at: string;
}

export interface Entry {
  id: string;
  status: EntryStatus;
  error: Fault | null;
  text: string | null;
  file_id: string | null;
  filename: string | null;
  scope_id: string | null;
  chunks: number;
  processed: number;
  total: number | null;
  expires_at: string | null;
  metadata: Record<string, string | number | boolean>;
  created_at: string;
}

/** A passage that fits a query. */
export interface Match {
  id: string;
  text: string;
  score: number;
  score_parts: { vector?: number | null; keyword?: number | null };
  file_id: string | null;
  filename: string | null;
  chunk_index: number;
  page: number | null;
  heading: string | null;
  metadata: Record<string, string | number | boolean>;
}

export interface KeyValue {
  key: string;
  value: unknown;
  version: number;
  expires_at: string | null;
  updated_at: string;
}

const pageSize = 50;
const soon_ms = 1500;
const pathOf = (id: string) => `/memory/${encodeURIComponent(id)}`;

/** A page of stores; read again while one of them is indexed anew. */
export function storesQuery(at: Workspace, { kind, ...page }: StoresSearch) {
  const path = `/memory${query({ limit: pageSize, kind, ...pageQuery(page) })}`;
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "page", { kind, ...page }],
    queryFn: ({ signal }) => get<List<Store>>(resourceUrl(at, path), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(({ indexing }) => indexing) ? soon_ms : false),
  });
}

/** One store. */
export function storeQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "one", id],
    queryFn: ({ signal }) => get<Store>(resourceUrl(at, pathOf(id)), signal),
    retry: false,
    refetchInterval: ({ state }) => (state.data?.indexing ? soon_ms : false),
  });
}

/** A page of a store's entries; read again while one of them is not done. */
export function entriesQuery(at: Workspace, id: string, { of, status, after, before }: StoreSearch) {
  const values = { limit: pageSize, scope_id: of, status, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "entries", id, values],
    queryFn: ({ signal }) => get<List<Entry>>(resourceUrl(at, `${pathOf(id)}/entries${query(values)}`), signal),
    refetchInterval: ({ state }) => (state.data?.data.some((each) => each.status === "processing") ? soon_ms : false),
  });
}

export interface SearchOrder {
  query: string;
  mode?: SearchMode;
  scope_id?: string;
  filter?: object;
}

/** The passages that fit best. */
export function matchesQuery(at: Workspace, id: string, order: SearchOrder) {
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "search", id, order],
    queryFn: () => post<List<Match>>(resourceUrl(at, `${pathOf(id)}/search`), order),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** A page of a store's keys, by name. */
export function keysQuery(at: Workspace, id: string, { of, q, after, before }: StoreSearch) {
  const values = { limit: pageSize, order: "asc", scope_id: of, prefix: q, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "keys", id, values],
    queryFn: ({ signal }) => get<List<KeyValue>>(resourceUrl(at, `${pathOf(id)}/keys${query(values)}`), signal),
    retry: false,
  });
}

interface ListedFile {
  id: string;
  filename: string;
  mime_type: string;
  purpose: string;
}

/** All files, to put one into a store. */
export function filesQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["files", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<ListedFile>(at, "/files", {}, signal),
    staleTime: 15_000,
  });
}

export const createStore = (at: Workspace, body: object): Promise<Store> => post(resourceUrl(at, "/memory"), body);
export const changeStore = (at: Workspace, id: string, body: object): Promise<Store> =>
  patch(resourceUrl(at, pathOf(id)), body);
export const deleteStore = (at: Workspace, id: string): Promise<unknown> => remove(resourceUrl(at, pathOf(id)));

export const addEntry = (at: Workspace, id: string, body: object): Promise<Entry> =>
  post(resourceUrl(at, `${pathOf(id)}/entries`), body);
export const deleteEntry = (at: Workspace, id: string, entry: string): Promise<unknown> =>
  remove(resourceUrl(at, `${pathOf(id)}/entries/${encodeURIComponent(entry)}`));

/** Where a key stands, within a user's or session's part of its store. */
interface KeyPlace {
  store: string;
  key: string;
  of?: string;
}

const keyPath = ({ store, key, of }: KeyPlace) =>
  `${pathOf(store)}/keys/${encodeURIComponent(key)}${query({ scope_id: of })}`;

export const readKey = (at: Workspace, place: KeyPlace): Promise<KeyValue> => get(resourceUrl(at, keyPath(place)));

/** Writes over this version alone; 0: only where there is no such key. */
export const writeKey = (at: Workspace, place: KeyPlace, body: object, version: number): Promise<KeyValue> =>
  put(resourceUrl(at, keyPath(place)), body, { "If-Match": String(version) });

export const deleteKey = (at: Workspace, place: KeyPlace, version: number): Promise<unknown> =>
  remove(resourceUrl(at, keyPath(place)), { "If-Match": String(version) });
