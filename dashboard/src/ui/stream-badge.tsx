import { Unplug } from "lucide-react";
import type { StreamState } from "../lib/events.ts";
import { Pill } from "./pill.tsx";

/** The dot of what is live now. */
export function LiveDot() {
  return <span aria-hidden className="live-dot mx-1 size-2 shrink-0 rounded-full bg-ok" />;
}

/** Says so when the live connection was lost; silent while all is well. */
export function LostBadge({
  stream,
  after,
}: {
  stream: StreamState;
  /** Of a stream that goes on where it broke: the last event that came, or nothing where none has. */
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
