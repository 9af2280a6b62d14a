import { filePurposes, fileStatuses } from "../../../../server/wire/names.ts";
import type { FilesSearch } from "../../entities/file/file-api.ts";
import { given, readChoice, readForm, readNamedSearch } from "../../lib/page-search.ts";

/** Of the list's address. */
export function readFilesSearch(search: Record<string, unknown>): FilesSearch {
  const file = readForm(search.file, /^file_\w+$/);
  if (file) return { file };
  return given({
    status: readChoice(search.status, fileStatuses),
    purpose: readChoice(search.purpose, filePurposes),
    ...readNamedSearch(search, "file"),
  });
}
