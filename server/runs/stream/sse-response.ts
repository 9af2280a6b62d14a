import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { mayRun, type NoLongerValid } from "../../http/auth.ts";
import type { Base } from "../../http/module.ts";
import type { Principal } from "../../http/principal.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { pulledStream, sseHeaders, type TextSource } from "../../lib/sse.ts";
import { throttle } from "../../lib/throttle.ts";
import type { ConsentLinks } from "../consent/consent-links.ts";
import type { RunService } from "../service.ts";
import type { RunSubscriptions } from "./run-subscriptions.ts";
import type { Cursor, ReadOptions, RunStream } from "./stream.ts";

interface Deps {
  tail: RunStream;
  watches: RunSubscriptions;
  cancel: RunService["cancel"];
  links: Pick<ConsentLinks, "of">;
  /** Signal that ends the streams of a project. */
  ending: Base["abortSignalOf"];
}

interface Options extends Pick<ReadOptions, "slim" | "dialect"> {
  noLongerValid: NoLongerValid;
  /** True if the run is cancelled when its last reader leaves, provided that reader may cancel it. */
  cancelOnLeave?: boolean;
  /** Wraps the texts in those of another protocol. */
  as?: (texts: TextSource) => TextSource;
}

// A revoked key's stream ends within a second: a quiet stream polls every second, so this must be less.
const recheck_ms = 500;

/** Throws 429 if the run has as many readers as allowed. */
export function assertReaderLimit(watches: Pick<RunSubscriptions, "readers">, id: string): void {
  if (watches.readers(id) >= limits.stream_readers_per_run)
    throw new AppError("rate_limited", `A run has at most ${limits.stream_readers_per_run} stream readers.`, {
      retryAfter: 5,
    });
}

export type OpenSseResponse = ReturnType<typeof createSseResponder>;

/** Responds with a run's events from a cursor on. The caller has checked access to the run. */
export const createSseResponder =
  ({ tail, watches, cancel, links, ending }: Deps) =>
  (
    principal: Principal,
    id: string,
    from: Cursor,
    request: Request,
    { noLongerValid, slim, dialect, cancelOnLeave = false, as = (texts) => texts }: Options,
  ): Response => {
    assertReaderLimit(watches, id);
    const endSignal = ending(principal.project_id);
    const link = links.of(principal);
    const visitor = principal.token?.is_visitor ?? false;
    // Re-check the key at most every 500 ms: each check is a database read. The first check was the authentication.
    const end = throttle(recheck_ms, () => noLongerValid(principal, request), null);
    let forget = () => {};
    const stream = pulledStream(
      (wake) => {
        const texts = tail(id, from, wake, {
          noLongerValid: end,
          slim,
          visitor,
          ...(link && { link }),
          ...(dialect && { dialect }),
        });
        const forgetClosing = onAbort([endSignal], () => {
          texts.stop();
          wake();
        });
        // The reader may have disconnected during authentication; then its stream is never read or cancelled.
        const forgetLeaving = onAbort([request.signal], texts.stop);
        forget = () => {
          forgetClosing();
          forgetLeaving();
        };
        return as(texts);
      },
      (byReader) => {
        forget();
        // Not if others still read, such as the same client on a new connection, or if the server is stopping.
        // Cancelling a finished run is refused, which is fine here.
        if (byReader && cancelOnLeave && mayRun(principal) && watches.readers(id) === 0 && !endSignal.aborted)
          cancel(principal, id, "The stream was closed by its reader.").catch(() => {});
      },
    );
    return new Response(stream, { headers: sseHeaders });
  };
