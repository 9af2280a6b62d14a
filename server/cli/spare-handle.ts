import { dotSegmentRefused, isPathRewritten } from "../http/dot-segments.ts";
import type { PublicUrl } from "../http/errors.ts";
import { foreignHostRefused, type TransportGate } from "../http/https-only.ts";
import { pathOf } from "../storage/replication/node-auth.ts";
import { nodeResponse, refusalResponse } from "./cluster/cluster-unavailable.ts";
import type { Handle } from "./serve/listener.ts";

interface SpareHandleOptions extends Pick<TransportGate, "isRebound"> {
  /** Passes a request on to a leader. */
  handle: Handle;
  publicUrl: PublicUrl;
}

/** Handles the health check itself, and passes on all other requests. */
export const createSpareHandle =
  ({ handle, publicUrl, isRebound }: SpareHandleOptions): Handle =>
  (request) => {
    // The leader would only see the normalized path.
    if (isPathRewritten(request)) return refusalResponse(dotSegmentRefused(), publicUrl);
    if (!/^\/healthz\/?(\?|$)/.test(pathOf(request.url))) return handle(request);
    return isRebound(request)
      ? refusalResponse(foreignHostRefused(), publicUrl)
      : nodeResponse(200, { status: "spare" });
  };
