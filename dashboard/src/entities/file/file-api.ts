import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { FilePurpose, FileStatus } from "../../../../server/domain/api-types/enums.ts";
import type { FileChunk, File as StoredFile } from "../../../../server/domain/api-types/file.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { ApiError, get, post, query } from "../../lib/api.ts";
import { asPage, type WholeList } from "../../lib/get-all.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";

/** Search parameters of the list. */
export interface FilesSearch extends NamedSearch {
  status?: FileStatus;
  purpose?: FilePurpose;
  /** Shows only the file with this id. */
  file?: string;
}

const soon_ms = 1500;

export const fileApi = resource<StoredFile>("files", ({ filename }) => filename);

/** A page of files or search results; refetched while one of them is being processed. */
export function filesQuery(at: WorkspaceKey, { status, purpose, file, ...place }: FilesSearch) {
  const again = ({ state }: { state: { data?: List<StoredFile> } }) =>
    state.data?.data.some(isUnderWay) ? soon_ms : false;
  if (!file) return { ...fileApi.page(at, place, { status, purpose }), refetchInterval: again };
  return queryOptions({
    queryKey: fileApi.key(at, "page", file),
    queryFn: ({ signal }) => onlyFile(at, file, signal),
    refetchInterval: again,
  });
}

/** Returns a list with just this file; empty if it was deleted. */
async function onlyFile(at: WorkspaceKey, id: string, signal: AbortSignal): Promise<WholeList<StoredFile>> {
  const found = await get<StoredFile>(fileApi.url(at, id), signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  return asPage(found ? [found] : []);
}

/** True while a file is being processed. */
const isUnderWay = ({ status }: Pick<StoredFile, "status">): boolean =>
  status === "uploaded" || status === "processing";

export const retryFile = (at: WorkspaceKey, id: string): Promise<StoredFile> => post(fileApi.url(at, id, "/retry"));

/** Text chunks of a document, paginated. */
export const chunksQuery = (at: WorkspaceKey, id: string) =>
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

/** Address of the picture of a PDF's page. */
export const pageUrl = (at: WorkspaceKey, id: string, page: number): string => fileApi.url(at, id, `/pages/${page}`);

/** Address of a file's content. */
export const contentUrl = (at: WorkspaceKey, id: string): string => fileApi.url(at, id, "/content");
