import { Unplug } from "lucide-react";
import type { StreamState } from "../../lib/events.ts";
import { Pill } from "./pill.tsx";

/** Dot that marks live data. */
export function LiveDot() {
  return <span aria-hidden className="live-dot mx-1 size-2 shrink-0 rounded-full bg-ok" />;
}

/** Badge for a lost live connection; hidden otherwise. */
export function LostBadge({
  stream,
  after,
}: {
  stream: StreamState;
  /** Last event id of a stream that can resume; empty before the first event. */
  after?: string;
}) {
  return (
    <span role="alert" className="empty:hidden">
      {stream === "lost" && (
        <Pill tone="warn" icon={Unplug}>
          {after === undefined ? "Connection lost, retrying" : `Connection lost. Resuming from ${after || "the start"}`}
        </Pill>
      )}
    </span>
  );
}
