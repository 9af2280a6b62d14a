import { createTraceFold, type Trace } from "../../domain/trace.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Journal } from "../../storage/journal/journal.ts";

// Entries per read, fewer if they are long.
const piece = 100;

/**
 * Returns the trace of a run's current journal; null if it is deleted, also meanwhile. Yields between the pieces of a
 * long one.
 */
export async function readTrace(
  journal: Pick<Journal, "head" | "readSome">,
  runId: string,
  { raw = false, rest = createYielder() }: { raw?: boolean; rest?: () => Promise<void> } = {},
): Promise<Trace | null> {
  const fold = createTraceFold({ raw });
  const end = journal.head(runId)?.seq ?? Number.POSITIVE_INFINITY;
  let read = 0;
  for (let found = piece; found > 0; ) {
    await rest(); // Reading takes time, too.
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
