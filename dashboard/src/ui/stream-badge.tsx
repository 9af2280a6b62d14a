import { Unplug } from "lucide-react";
import type { StreamState } from "../lib/events.ts";
import { Pill } from "./pill.tsx";

/** The dot of what is live now. */
export function LiveDot() {
  return <span aria-hidden className="live-dot mx-1 size-2 shrink-0 rounded-full bg-ok" />;
}

/** Says so when the live connection was lost; silent while all is well. */
export function LostBadge({ stream }: { stream: StreamState }) {
  return (
    <span role="alert">
      {stream === "lost" && (
        <Pill tone="warn" icon={Unplug}>
          Connection lost, trying again
        </Pill>
      )}
    </span>
  );
}
