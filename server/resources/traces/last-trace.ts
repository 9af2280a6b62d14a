import type { Trace } from "../../domain/trace.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { readTrace } from "./read-trace.ts";

interface CachedTrace {
  runId: string;
  seq: number;
  raw: boolean;
  trace: Trace;
}

const keep_ms = 5_000;
/** Shorter traces fit into a page or two and are not worth caching. */
const longFrom = 200;

/**
 * Reads traces, and caches the last long one for some seconds, because clients request page after page and each would
 * fold the whole journal again. Appended entries invalidate it.
 */
export function createLastTrace(journal: Pick<Journal, "head" | "readSome">) {
  let cached: CachedTrace | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function keep(next: CachedTrace): void {
    cached = next;
    clearTimeout(timer);
    timer = setTimeout(() => {
      cached = null;
    }, keep_ms).unref();
  }

  return async (runId: string, { raw = false }: { raw?: boolean } = {}): Promise<Trace | null> => {
    const seq = journal.head(runId)?.seq;
    if (seq === undefined) return null;
    if (cached?.runId === runId && cached.seq === seq && cached.raw === raw) return cached.trace;
    const trace = await readTrace(journal, runId, { raw });
    if (trace && trace.steps.length >= longFrom) keep({ runId, seq, raw, trace });
    return trace;
  };
}
