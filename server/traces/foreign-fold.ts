import type { JournalEntry } from "../core/run-event.ts";
import { runObject } from "../core/run-object.ts";
import { createTraceFold, type Trace, type TraceFold } from "../core/trace.ts";
import { frameOf } from "../wire/frames.ts";

/** Entries that have the shape of a run's, but tell of none. */
export class NoRun extends Error {}

/** The trace of entries that came from elsewhere. Throws {@link NoRun} for what cannot be shown as a run. */
export function createForeignFold({ raw = false }: { raw?: boolean } = {}): TraceFold {
  const fold = createTraceFold({ raw });
  return {
    add: (entry: JournalEntry) =>
      unlessNone(() => {
        fold.add(entry);
        frameOf("run", entry);
      }),
    trace: (): Trace =>
      unlessNone(() => {
        const trace = fold.trace();
        runObject(trace.state, null);
        return trace;
      }),
  };
}

/** Throws {@link NoRun} for whatever goes wrong. */
export function unlessNone<T>(show: () => T): T {
  try {
    return show();
  } catch (cause) {
    throw new NoRun("The entries do not follow from each other.", { cause });
  }
}
