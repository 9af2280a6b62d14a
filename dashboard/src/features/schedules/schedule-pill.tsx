import { Check, CircleX, FastForward, LoaderCircle, OctagonX, Pause, Square, X } from "lucide-react";
import type { Outcome } from "../../../../server/domain/api-types/enums.ts";
import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { type Look, LookPill, labelsOf } from "../../ui/data/pill.tsx";

const states = {
  active: ["ok", Check, "Active"],
  off: ["bad", OctagonX, "Disabled"],
  paused: ["plain", Pause, "Paused"],
} as const satisfies Record<string, Look>;

/** Status of a schedule: active, paused, or disabled after failures. */
export const SchedulePill = ({ schedule }: { schedule: Schedule }) => (
  <LookPill look={states[schedule.enabled ? "active" : schedule.disabled_reason ? "off" : "paused"]} />
);

const looks: Record<Outcome, Look> = {
  started: ["info", LoaderCircle, "Running"],
  completed: ["ok", Check, "Completed"],
  failed: ["bad", X, "Failed"],
  cancelled: ["plain", Square, "Cancelled"],
  skipped: ["plain", FastForward, "Skipped"],
  missed: ["warn", CircleX, "Missed"],
};

export const outcomeWords = labelsOf(looks);

/** Outcome of a scheduled time. */
export const OutcomePill = ({ outcome }: { outcome: Outcome }) => (
  <LookPill look={looks[outcome]} spin={outcome === "started"} />
);
