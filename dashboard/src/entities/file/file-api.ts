import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";

export const filePurposes = ["retrieval", "code_interpreter", "attachment", "output"] as const;
export type FilePurpose = (typeof filePurposes)[number];

export const fileStatuses = ["uploaded", "processing", "ready", "failed"] as const;
type FileStatus = (typeof fileStatuses)[number];

/** A file as the API shows it. */
export interface StoredFile {
  id: string;
  filename: string;
  mime_type: string;
  bytes: number;
  purpose: FilePurpose;
  status: FileStatus;
  error: { code: string; message: string } | null;
  chunks: number;
  pages: number | null;
  memory_ids: string[];
  processed: number;
  total: number | null;
  run_id: string | null;
  expires_at: string | null;
  created_at: string;
}

/** What the address of the list holds. */
export interface FilesSearch extends PageSearch {
  status?: FileStatus;
  purpose?: FilePurpose;
  /** Only the one with this id. */
  file?: string;
}

/** A memory store, for its name and for what it takes. */
interface ListedStore {
  id: string;
  name: string;
  kind: "vector" | "kv";
  scope: "project" | "user" | "session";
}

const pageSize = 50;
const soon_ms = 1500;
const pathOf = (id: string) => `/files/${encodeURIComponent(id)}`;

/** A page of files; read again while one of them is being read. */
export function filesQuery(at: Workspace, { status, purpose, file, ...page }: FilesSearch) {
  const path = `/files${query({ limit: pageSize, status, purpose, ...pageQuery(page) })}`;
  return queryOptions({
    queryKey: ["files", at.projectId, at.mode, { status, purpose, file, ...page }],
    queryFn: ({ signal }): Promise<List<StoredFile>> =>
      file ? onlyFile(at, file, signal) : get<List<StoredFile>>(resourceUrl(at, path), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? soon_ms : false),
  });
}

/** One file as a list of one; of none where it is gone. */
async function onlyFile(at: Workspace, id: string, signal: AbortSignal): Promise<List<StoredFile>> {
  const data = await get<StoredFile>(resourceUrl(at, pathOf(id)), signal).then(
    (file) => [file],
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    },
  );
  return { object: "list", data, has_more: false, first_id: null, last_id: null, request_id: "" };
}

/** Whether a file is still being read, or made searchable. */
const isUnderWay = ({ status }: Pick<StoredFile, "status">): boolean =>
  status === "uploaded" || status === "processing";

/** All memory stores, for their names. */
export function storesQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["memory", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<ListedStore>(at, "/memory", {}, signal),
    staleTime: 15_000,
  });
}

export const retryFile = (at: Workspace, id: string): Promise<StoredFile> =>
  post(resourceUrl(at, `${pathOf(id)}/retry`));

export const deleteFile = (at: Workspace, id: string): Promise<unknown> => remove(resourceUrl(at, pathOf(id)));

/** Where the content of a file is read. */
export const contentUrl = (at: Workspace, id: string): string => resourceUrl(at, `${pathOf(id)}/content`);
