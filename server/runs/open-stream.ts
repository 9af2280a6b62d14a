import { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { mayRun, type NoLongerValid } from "../http/auth.ts";
import type { Base } from "../http/part.ts";
import type { Principal } from "../http/principal.ts";
import { atMostEvery } from "../lib/at-most-every.ts";
import type { Port } from "../lib/port.ts";
import { pushedStream, sseHeaders, type Texts } from "../lib/sse.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { RunService } from "./service.ts";
import type { Cursor, ReadOptions, RunStream } from "./stream.ts";
import type { Watches } from "./watch.ts";

interface Deps {
  tail: RunStream;
  watches: Watches;
  service: Port<Pick<RunService, "cancel">>;
  /** Ends the streams of a project. */
  ending: Base["ending"];
}

interface Options extends Pick<ReadOptions, "slim" | "dialect"> {
  noLongerValid: NoLongerValid;
  /** Whether the run ends when its last reader has left, where that one may end it. */
  cancelOnLeave?: boolean;
  /** The same texts with what another protocol says between them. */
  as?: (texts: Texts) => Texts;
}

// The stream of a key that was revoked ends within a second: a quiet one looks every second, so this must be less.
const recheck_ms = 500;

/** Throws 429 where a run has as many readers as it may. */
export function requireReaderPlace(watches: Pick<Watches, "readers">, id: string): void {
  if (watches.readers(id) >= limits.stream_readers_per_run)
    throw new AppError("rate_limited", `A run has at most ${limits.stream_readers_per_run} stream readers.`, {
      retryAfter: 5,
    });
}

export type OpenStream = ReturnType<typeof createStreamOpener>;

/** Answers a request with the events of a run from a place on. Whether the run is the principal's was asked before. */
export const createStreamOpener =
  ({ tail, watches, service, ending }: Deps) =>
  (
    principal: Principal,
    id: string,
    from: Cursor,
    request: Request,
    { noLongerValid, slim, dialect, cancelOnLeave = false, as = (texts) => texts }: Options,
  ): Response => {
    requireReaderPlace(watches, id);
    const ended = ending(principal.project_id);
    const visitor = principal.token?.is_visitor ?? false;
    // Not at every token, since the key is looked up in the database, and not now, since this request was just authenticated.
    const end = atMostEvery(recheck_ms, () => noLongerValid(principal, request), null);
    let forget = () => {};
    const stream = pushedStream(
      (wake) => {
        const texts = tail(id, from, wake, { noLongerValid: end, slim, visitor, ...(dialect && { dialect }) });
        const forgetClosing = untilAborted([ended], () => {
          texts.stop();
          wake();
        });
        // Also a reader that is gone already, while its key was looked at: nobody will read or cancel the stream.
        const forgetLeaving = untilAborted([request.signal], texts.stop);
        forget = () => {
          forgetClosing();
          forgetLeaving();
        };
        return as(texts);
      },
      (byReader) => {
        forget();
        // Others may read on, such as the same client by a new connection, and a stop of the server is nobody's leaving.
        // Cancelling a run that is over is refused, which is just what is wanted here.
        if (byReader && cancelOnLeave && mayRun(principal) && watches.readers(id) === 0 && !ended.aborted)
          service()
            .cancel(principal, id, "The stream was closed by its reader.")
            .catch(() => {});
      },
    );
    return new Response(stream, { headers: sseHeaders });
  };
