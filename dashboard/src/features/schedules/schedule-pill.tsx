import { Check, CircleX, FastForward, LoaderCircle, OctagonX, Pause, Square, X } from "lucide-react";
import type { Outcome } from "../../../../server/wire/names.ts";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { type Look, LookPill, wordsOf } from "../../ui/pill.tsx";

const states = {
  active: ["ok", Check, "Active"],
  off: ["bad", OctagonX, "Disabled"],
  paused: ["plain", Pause, "Paused"],
} as const satisfies Record<string, Look>;

/** How a schedule stands: it fires, it is paused, or it was switched off for its failures. */
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

export const outcomeWords = wordsOf(looks);

/** The result of a time. */
export const OutcomePill = ({ outcome }: { outcome: Outcome }) => (
  <LookPill look={looks[outcome]} spin={outcome === "started"} />
);
