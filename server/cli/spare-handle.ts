import { pathOf } from "../cluster/between-nodes.ts";
import { dotSegmentRefused, hasDotSegment } from "../http/dot-segments.ts";
import type { PublicUrl } from "../http/errors.ts";
import { reboundRefused, type TransportGate } from "../http/https-only.ts";
import { answering, refusing } from "./cluster-away.ts";
import type { Handle } from "./listener.ts";

interface SpareHandleOptions extends Pick<TransportGate, "isRebound"> {
  /** Passes a request on to a leader. */
  handle: Handle;
  publicUrl: PublicUrl;
}

/** Answers what a spare says itself, and passes on the rest. */
export const createSpareHandle =
  ({ handle, publicUrl, isRebound }: SpareHandleOptions): Handle =>
  (request) => {
    // The leader would see the address that was made of what was sent.
    if (hasDotSegment(request)) return refusing(dotSegmentRefused(), publicUrl);
    if (!/^\/healthz\/?(\?|$)/.test(pathOf(request.url))) return handle(request);
    return isRebound(request) ? refusing(reboundRefused(), publicUrl) : answering(200, { status: "spare" });
  };
