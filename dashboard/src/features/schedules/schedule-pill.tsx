import { Check, CircleX, FastForward, LoaderCircle, type LucideIcon, OctagonX, Pause, Square, X } from "lucide-react";
import type { Outcome } from "../../../../server/wire/names.ts";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { Pill, type Tone } from "../../ui/pill.tsx";

/** How a schedule stands: it fires, it is paused, or it was switched off for its failures. */
export function SchedulePill({ schedule }: { schedule: Schedule }) {
  if (schedule.enabled)
    return (
      <Pill tone="ok" icon={Check}>
        Active
      </Pill>
    );
  return schedule.disabled_reason ? (
    <Pill tone="bad" icon={OctagonX}>
      Switched off
    </Pill>
  ) : (
    <Pill tone="plain" icon={Pause}>
      Paused
    </Pill>
  );
}

const looks: Record<Outcome, [Tone, LucideIcon, string]> = {
  started: ["info", LoaderCircle, "Running"],
  completed: ["ok", Check, "Completed"],
  failed: ["bad", X, "Failed"],
  cancelled: ["plain", Square, "Cancelled"],
  skipped: ["plain", FastForward, "Skipped"],
  missed: ["warn", CircleX, "Missed"],
};

export const outcomeWords = (outcome: Outcome): string => looks[outcome][2];

/** The result of a time. */
export function OutcomePill({ outcome }: { outcome: Outcome }) {
  const [tone, icon, word] = looks[outcome];
  return (
    <Pill tone={tone} icon={icon} spin={outcome === "started"}>
      {word}
    </Pill>
  );
}
