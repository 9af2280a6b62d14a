import { capsuleLimits, capsuleType } from "../../../../server/domain/capsule-format.ts";
import { formatBytes } from "../../lib/format.ts";

const jsonType = "application/json";
const capsuleMark = "SQLite format 3\0";

/**
 * Media type of an import: a capsule is recognized by its first bytes, not by its name; other files are exported
 * traces.
 */
export async function traceType(file: Blob): Promise<string> {
  return (await file.slice(0, capsuleMark.length).text()) === capsuleMark ? capsuleType : jsonType;
}

/** Returns the error of a file before it is sent, or null. */
export function traceFileFault(file: Pick<File, "size"> | null): string | null {
  if (!file) return "Choose a file.";
  if (file.size === 0) return "The file is empty.";
  return file.size > capsuleLimits.bytes ? `The file is larger than ${formatBytes(capsuleLimits.bytes)}.` : null;
}
