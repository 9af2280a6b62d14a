import { Check, CircleHelp, Clock, LoaderCircle, type LucideIcon, Pause, Square, X } from "lucide-react";
import type { RunStatus } from "../../../../server/domain/run-state.ts";
import { Pill, type Tone } from "./pill.tsx";

export const statusWords: Record<RunStatus, string> = {
  in_progress: "Running",
  requires_action: "Needs action",
  paused: "Paused",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  queued: "Queued",
};

const looks: Record<RunStatus, [Tone, LucideIcon]> = {
  in_progress: ["info", LoaderCircle],
  requires_action: ["warn", CircleHelp],
  paused: ["plain", Pause],
  completed: ["ok", Check],
  failed: ["bad", X],
  cancelled: ["plain", Square],
  queued: ["plain", Clock],
};

/** Status of a run. */
export function StatusPill({ status }: { status: RunStatus }) {
  const [tone, icon] = looks[status];
  return (
    <Pill tone={tone} icon={icon} spin={status === "in_progress"}>
      {statusWords[status]}
    </Pill>
  );
}
