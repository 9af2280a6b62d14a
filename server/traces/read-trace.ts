import { createTraceFold, type Trace } from "../core/trace.ts";
import type { Journal } from "../journal/journal.ts";
import { inSlices } from "../lib/slices.ts";

// Entries that are read at once, unless they are long.
const piece = 100;

/**
 * The trace of a run as its journal stands now; null when it is gone, or goes meanwhile. A long one is read in pieces:
 * requests of others are answered in between.
 */
export async function readTrace(
  journal: Pick<Journal, "head" | "readSome">,
  runId: string,
  { raw = false, rest = inSlices() }: { raw?: boolean; rest?: () => Promise<void> } = {},
): Promise<Trace | null> {
  const fold = createTraceFold({ raw });
  const end = journal.head(runId)?.seq ?? Number.POSITIVE_INFINITY;
  let read = 0;
  for (let found = piece; found > 0; ) {
    await rest(); // Reading takes time too.
    const { entries } = journal.readSome(runId, read, piece);
    for (const entry of entries) {
      fold.add(entry);
      await rest();
    }
    found = entries.length;
    read += found;
  }
  return read < end ? null : fold.trace();
}
