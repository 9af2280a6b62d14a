import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, post, query } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List } from "../../lib/types.ts";
import { type At, resource } from "../resource/resource.ts";

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

const soon_ms = 1500;

export const fileApi = resource<StoredFile>("files");

/** A page of files; read again while one of them is being read. */
export function filesQuery(at: At, { status, purpose, file, ...page }: FilesSearch) {
  const values = { limit: 50, status, purpose, ...pageQuery(page) };
  return queryOptions({
    queryKey: fileApi.key(at, "page", file, values),
    queryFn: ({ signal }): Promise<List<StoredFile>> =>
      file ? onlyFile(at, file, signal) : get<List<StoredFile>>(fileApi.url(at) + query(values), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? soon_ms : false),
  });
}

/** One file as a list of one; of none where it is gone. */
async function onlyFile(at: At, id: string, signal: AbortSignal): Promise<List<StoredFile>> {
  const data = await get<StoredFile>(fileApi.url(at, id), signal).then(
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

export const retryFile = (at: At, id: string): Promise<StoredFile> => post(fileApi.url(at, id, "/retry"));

/** Where the content of a file is read. */
export const contentUrl = (at: At, id: string): string => fileApi.url(at, id, "/content");
