import type { AppError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import { errorEvent, type PublicUrl } from "../http/errors.ts";
import { sseComment, sseRetry, type Texts } from "../lib/sse.ts";

interface LiveRuns {
  scope: Scope;
  /** Calls back with the id of every run that changed, until the answer is called. */
  listen: (listener: (runId: string) => void) => () => void;
  belongs: (scope: Scope, runId: string) => boolean;
  /** Why the reader may read no longer, as where its session was closed; null while it may. */
  noLongerValid: () => AppError | null;
  publicUrl: PublicUrl;
}

const gather_ms = 100;
const ping_ms = 5000;
const maxIds = 1000;

/**
 * Names the runs of a project and environment that change, as `event: run` with `{id}`; `wake` tells when there is text.
 * It keeps no history: a client that connects reads the list again. A run that changes several times between two sends is named once.
 */
export function liveRuns(options: LiveRuns, wake: () => void): Texts {
  const { scope, listen, belongs, noLongerValid, publicUrl } = options;
  const changed = new Set<string>();
  let head = sseRetry(2000);
  let stands: "new" | "open" | "stopped" | "over" = "new";
  let gathering: Timer | null = null;
  const leave = listen((runId) => {
    changed.add(runId);
    gathering ??= setTimeout(() => {
      gathering = null;
      wake();
    }, gather_ms);
  });

  /** The changed runs as text; null where none of them are the reader's. */
  function named(): string | null {
    const ids = [...changed].filter((id) => belongs(scope, id));
    changed.clear();
    if (ids.length === 0) return null;
    const text = head + ids.map(frame).join("");
    head = "";
    return text;
  }

  const last = (text: string | undefined): string | undefined => {
    stands = "over";
    return text;
  };

  return {
    next(quiet_ms) {
      if (stands === "over") return undefined;
      if (stands === "stopped") return last(sseComment("closing"));
      if (stands === "new") {
        stands = "open";
        return sseComment("open"); // Headers go out with the first text.
      }
      const end = noLongerValid();
      if (end) return last(errorEvent(end, publicUrl));
      // A reader that took nothing for so long reads the list anew when it comes back.
      if (changed.size > maxIds) return last(undefined);
      const text = gathering ? null : named();
      return text ?? (quiet_ms > 0 && quiet_ms % ping_ms === 0 ? sseComment("ping") : null);
    },
    stop() {
      if (stands !== "over") stands = "stopped";
      if (gathering) clearTimeout(gathering);
      leave();
    },
  };
}

const frame = (id: string): string => `event: run\ndata: {"id":"${id}"}\n\n`;
