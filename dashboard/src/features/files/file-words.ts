import type { FilePurpose } from "../../../../server/domain/api-types/enums.ts";
import type { File as StoredFile } from "../../../../server/domain/api-types/file.ts";
import { maxUploadBytes } from "../../entities/file/upload.ts";
import { formatBytes, formatCount, plural } from "../../lib/format.ts";

/** Labels of file purposes. */
export const purposeWords: Record<FilePurpose, string> = {
  retrieval: "Search",
  code_interpreter: "Code",
  attachment: "Runs",
  output: "Created by a run",
};

const advice: Record<string, string> = {
  document_unreadable: "The content does not match the file type. Open and save it again, or upload it as text.",
  document_encrypted: "It is password-protected. Upload it without a password.",
  document_empty: "No text was found in it.",
  document_too_large: "It contains more text than a document can have. Split it and upload the parts.",
  document_timeout: "Processing took too long. Try again, or split it and upload the parts.",
  document_out_of_memory: "Processing took too much memory. Split it and upload the parts.",
  sandbox_unavailable: "Documents are processed in the sandbox, which is off.",
  sandbox_failed: "Processing crashed three times. Try again, or upload it in another format.",
};

/** Returns why a file failed, with advice if there is any. Returns an empty text if it did not fail. */
export function failureWords({ error }: Pick<StoredFile, "error">): string {
  if (!error) return "";
  return advice[error.code] ?? error.message;
}

/** Returns how far a file is processed: its chunks, or its pages before they are known; else an empty text. */
export function progressWords({ processed, total, pages, pages_done }: Progress): string {
  if (total) return `${formatCount(processed)} of ${formatCount(total)}`;
  if (!pages_done) return "";
  return pages ? `${formatCount(pages_done)} of ${plural(pages, "page")} read` : `${plural(pages_done, "page")} read`;
}

type Progress = Pick<StoredFile, "processed" | "total" | "pages" | "pages_done">;

/** Returns why a file cannot be uploaded, or null if it can. */
export function localFault({ name, size }: Pick<File, "name" | "size">): string | null {
  if (size > maxUploadBytes)
    return `${name} is larger than 100 MB (${formatBytes(size)}). Split it, or use a smaller format.`;
  if (size === 0) return `${name} is empty.`;
  return null;
}

/** Returns the processed share of a file, from 0 to 1, or null if it is unknown. */
export function processedShare({ status, processed, total }: Pick<StoredFile, "status" | "processed" | "total">) {
  if (status === "ready") return 1;
  return total ? processed / total : null;
}
