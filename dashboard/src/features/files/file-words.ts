import type { File as StoredFile } from "../../../../server/wire/file.ts";
import type { FilePurpose } from "../../../../server/wire/names.ts";
import { formatBytes } from "../../lib/format.ts";
import { mostBytes } from "./upload.ts";

/** What a file is for, in words. */
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

/** Why a file failed, and what can be done. */
export function failureWords({ error }: Pick<StoredFile, "error">): string {
  if (!error) return "";
  return advice[error.code] ?? error.message;
}

/** Why a file cannot be sent at all; null for one that can. */
export function localFault({ name, size }: Pick<File, "name" | "size">): string | null {
  if (size > mostBytes)
    return `${name} is larger than 100 MB (${formatBytes(size)}). Split it, or use a smaller format.`;
  if (size === 0) return `${name} is empty.`;
  return null;
}

/** How far a file is: from 0 to 1; null where nobody knows. */
export function shareDone({ status, processed, total }: Pick<StoredFile, "status" | "processed" | "total">) {
  if (status === "ready") return 1;
  return total ? processed / total : null;
}
