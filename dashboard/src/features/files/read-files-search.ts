import { filePurposes, fileStatuses } from "../../../../server/domain/api-types/enums.ts";
import type { FilesSearch } from "../../entities/file/file-api.ts";
import { omitUndefined, readChoice, readForm, readNamedSearch } from "../../lib/page-search.ts";

/** Reads the query parameters of the list. */
export function readFilesSearch(search: Record<string, unknown>): FilesSearch {
  const file = readForm(search.file, /^file_\w+$/);
  if (file) return { file };
  return omitUndefined({
    status: readChoice(search.status, fileStatuses),
    purpose: readChoice(search.purpose, filePurposes),
    ...readNamedSearch(search, "file"),
  });
}
