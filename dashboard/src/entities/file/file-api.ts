import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { FileChunk, File as StoredFile } from "../../../../server/wire/file.ts";
import type { FilePurpose, FileStatus } from "../../../../server/wire/names.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { ApiError, get, post, query } from "../../lib/api.ts";
import { asPage, type WholeList } from "../../lib/get-all.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";

/** What the address of the list holds. */
export interface FilesSearch extends NamedSearch {
  status?: FileStatus;
  purpose?: FilePurpose;
  /** Only the one with this id. */
  file?: string;
}

const soon_ms = 1500;

export const fileApi = resource<StoredFile>("files", ({ filename }) => filename);

/** A page of files, or those that are sought; read again while one of them is being read. */
export function filesQuery(at: At, { status, purpose, file, ...place }: FilesSearch) {
  const again = ({ state }: { state: { data?: List<StoredFile> } }) =>
    state.data?.data.some(isUnderWay) ? soon_ms : false;
  if (!file) return { ...fileApi.page(at, place, { status, purpose }), refetchInterval: again };
  return queryOptions({
    queryKey: fileApi.key(at, "page", file),
    queryFn: ({ signal }) => onlyFile(at, file, signal),
    refetchInterval: again,
  });
}

/** One file as a list of one; of none where it is gone. */
async function onlyFile(at: At, id: string, signal: AbortSignal): Promise<WholeList<StoredFile>> {
  const found = await get<StoredFile>(fileApi.url(at, id), signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  return asPage(found ? [found] : []);
}

/** Whether a file is still being read, or made searchable. */
const isUnderWay = ({ status }: Pick<StoredFile, "status">): boolean =>
  status === "uploaded" || status === "processing";

export const retryFile = (at: At, id: string): Promise<StoredFile> => post(fileApi.url(at, id, "/retry"));

/** The chunks of a document's text, page by page. */
export const chunksQuery = (at: At, id: string) =>
  infiniteQueryOptions({
    queryKey: fileApi.key(at, "chunks", id),
    queryFn: ({ pageParam, signal }) =>
      get<List<FileChunk>>(
        fileApi.url(at, id, `/chunks${query({ limit: 100, starting_after: pageParam ?? undefined })}`),
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ has_more, last_id }) => (has_more ? last_id : null),
  });

/** Where the content of a file is read. */
export const contentUrl = (at: At, id: string): string => fileApi.url(at, id, "/content");
