import type { AppError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { errorEvent, type PublicUrl } from "../http/errors.ts";
import { sseComment, sseRetry, type TextSource } from "../lib/sse.ts";

interface LiveRuns {
  scope: Scope;
  /** Calls the listener with the id of every changed run. Returns the function that unsubscribes. */
  listen: (listener: (runId: string) => void) => () => void;
  belongs: (scope: Scope, runId: string) => boolean;
  /** Returns the reason why the reader lost access (such as a closed session), or null. */
  noLongerValid: () => AppError | null;
  publicUrl: PublicUrl;
}

const gather_ms = 100;
const ping_ms = 5000;
const maxIds = 1000;

/**
 * Streams the ids of changed runs of a project and environment, as `event: run` with `{id}`; `wake` is called when
 * there is text. Keeps no history: a client that connects reads the list again. A run that changes several times
 * between two sends is sent once.
 */
export function liveRuns(options: LiveRuns, wake: () => void): TextSource {
  const { scope, listen, belongs, noLongerValid, publicUrl } = options;
  const changed = new Set<string>();
  let head = sseRetry(2000);
  let state: "new" | "open" | "stopped" | "over" = "new";
  let gatherTimer: Timer | null = null;
  const leave = listen((runId) => {
    changed.add(runId);
    gatherTimer ??= setTimeout(() => {
      gatherTimer = null;
      wake();
    }, gather_ms);
  });

  /** Returns the changed runs as text, or null if none belong to the reader. */
  function changedRuns(): string | null {
    const ids = [...changed].filter((id) => belongs(scope, id));
    changed.clear();
    if (ids.length === 0) return null;
    const text = head + ids.map(frame).join("");
    head = "";
    return text;
  }

  const last = (text: string | undefined): string | undefined => {
    state = "over";
    return text;
  };

  return {
    next(quiet_ms) {
      if (state === "over") return undefined;
      if (state === "stopped") return last(sseComment("closing"));
      if (state === "new") {
        state = "open";
        return sseComment("open"); // Headers go out with the first text.
      }
      const end = noLongerValid();
      if (end) return last(errorEvent(end, publicUrl));
      // The reader is too slow: end the stream. It reads the whole list when it reconnects.
      if (changed.size > maxIds) return last(undefined);
      const text = gatherTimer ? null : changedRuns();
      return text ?? (quiet_ms > 0 && quiet_ms % ping_ms === 0 ? sseComment("ping") : null);
    },
    stop() {
      if (state !== "over") state = "stopped";
      if (gatherTimer) clearTimeout(gatherTimer);
      leave();
    },
  };
}

const frame = (id: string): string => `event: run\ndata: {"id":"${id}"}\n\n`;
