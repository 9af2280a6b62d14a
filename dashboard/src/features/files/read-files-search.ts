import { filePurposes, fileStatuses } from "../../../../server/wire/names.ts";
import type { FilesSearch } from "../../entities/file/file-api.ts";
import { readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

/** Of the list's address. */
export function readFilesSearch(search: Record<string, unknown>): FilesSearch {
  const status = readChoice(search.status, fileStatuses);
  const purpose = readChoice(search.purpose, filePurposes);
  const file = readText(search.file, 64);
  if (file && /^file_\w+$/.test(file)) return { file };
  return { ...(status && { status }), ...(purpose && { purpose }), ...readPageSearch(search, "file") };
}
