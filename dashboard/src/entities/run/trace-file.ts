import { capsuleLimits, capsuleType } from "../../../../server/core/capsule-format.ts";
import { formatBytes } from "../../lib/format.ts";

const jsonType = "application/json";
const capsuleMark = "SQLite format 3\0";

/** What a file is sent as: a capsule by its first bytes, whatever it is called; everything else as an exported trace. */
export async function traceType(file: Blob): Promise<string> {
  return (await file.slice(0, capsuleMark.length).text()) === capsuleMark ? capsuleType : jsonType;
}

/** What is wrong with a file before it is sent; null where nothing is. */
export function traceFileFault(file: Pick<File, "size"> | null): string | null {
  if (!file) return "Choose a file.";
  if (file.size === 0) return "The file is empty.";
  return file.size > capsuleLimits.bytes ? `The file is larger than ${formatBytes(capsuleLimits.bytes)}.` : null;
}
