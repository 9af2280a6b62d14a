import type { AppError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import { errorEvent, type PublicUrl } from "../http/errors.ts";
import { sseComment, sseRetry } from "../lib/sse.ts";

interface LiveRuns {
  scope: Scope;
  /** Calls back with the id of every run that changed, until the answer is called. */
  listen: (listener: (runId: string) => void) => () => void;
  belongs: (scope: Scope, runId: string) => boolean;
  /** Why the reader may read no longer, as where its session was closed; null while it may. */
  noLongerValid: () => AppError | null;
  publicUrl: PublicUrl;
  signal: AbortSignal;
  pingEvery_ms?: number;
}

const gather_ms = 100;
const maxIds = 1000;

/**
 * Names the runs of a project and environment that change, as `event: run` with `{id}`. It has no past: whoever connects
 * reads the list anew. What changes several times before it is sent is named once.
 */
export async function* liveRuns(options: LiveRuns): AsyncGenerator<string, void> {
  const { scope, listen, belongs, noLongerValid, publicUrl, signal, pingEvery_ms = 5000 } = options;
  const changed = new Set<string>();
  let wake = () => {};
  const leave = listen((runId) => {
    changed.add(runId);
    wake();
  });
  const next = (ms: number, done: () => boolean) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end);
      wake = () => done() && end();
      if (done() || signal.aborted) end();
    });
  try {
    yield sseComment("open"); // Headers go out with the first text.
    let head = sseRetry(2000);
    for (let end = noLongerValid(); !signal.aborted; end = noLongerValid()) {
      if (end) return yield errorEvent(end, publicUrl);
      await next(pingEvery_ms, () => changed.size > 0);
      if (changed.size > 0) await next(gather_ms, () => false);
      // A reader that took nothing for so long reads the list anew when it comes back.
      if (changed.size > maxIds) return;
      const ids = [...changed].filter((id) => belongs(scope, id));
      changed.clear();
      if (noLongerValid() || signal.aborted) continue;
      yield ids.length > 0 ? head + ids.map(frame).join("") : sseComment("ping");
      if (ids.length > 0) head = "";
    }
    if (signal.aborted) yield sseComment("closing");
  } finally {
    leave();
  }
}

const frame = (id: string): string => `event: run\ndata: {"id":"${id}"}\n\n`;
