import type { Trace } from "../core/trace.ts";
import type { Journal } from "../journal/journal.ts";
import { readTrace } from "./read-trace.ts";

interface Kept {
  runId: string;
  seq: number;
  raw: boolean;
  trace: Trace;
}

const keep_ms = 5_000;
/** Shorter ones fit in a page or two, and are not worth the memory. */
const longFrom = 200;

/**
 * Reads traces, and keeps the last long one for some seconds: whoever shows it asks for one page after the other, and
 * each would fold the whole journal again. What was appended since makes it another trace.
 */
export function createLastTrace(journal: Pick<Journal, "head" | "readSome">) {
  let kept: Kept | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function keep(next: Kept): void {
    kept = next;
    clearTimeout(timer);
    timer = setTimeout(() => {
      kept = null;
    }, keep_ms).unref();
  }

  return async (runId: string, { raw = false }: { raw?: boolean } = {}): Promise<Trace | null> => {
    const seq = journal.head(runId)?.seq;
    if (seq === undefined) return null;
    if (kept?.runId === runId && kept.seq === seq && kept.raw === raw) return kept.trace;
    const trace = await readTrace(journal, runId, { raw });
    if (trace && trace.steps.length >= longFrom) keep({ runId, seq, raw, trace });
    return trace;
  };
}
