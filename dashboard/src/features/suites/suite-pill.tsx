import { Check, Clock, LoaderCircle, type LucideIcon, Minus, Square, TriangleAlert, X } from "lucide-react";
import type { CaseStatus, SuiteRunStatus } from "../../../../server/domain/api-types/enums.ts";
import type { LiveResult } from "../../entities/suite/suite-api.ts";
import { Pill, type Tone } from "../../ui/data/pill.tsx";
import { liveWords } from "./suite-words.ts";

const runLooks: Record<SuiteRunStatus, [Tone, LucideIcon, string]> = {
  in_progress: ["info", LoaderCircle, "Running"],
  passed: ["ok", Check, "Passed"],
  diverged: ["warn", TriangleAlert, "Diverged"],
  failed: ["bad", X, "Failed"],
  cancelled: ["plain", Square, "Cancelled"],
};

/** Status of a suite run. */
export function SuiteRunPill({ status }: { status: SuiteRunStatus }) {
  const [tone, icon, word] = runLooks[status];
  return (
    <Pill tone={tone} icon={icon} spin={status === "in_progress"}>
      {word}
    </Pill>
  );
}

const caseLooks: Record<CaseStatus, [Tone, LucideIcon, string]> = {
  pending: ["plain", Clock, "Pending"],
  equal: ["ok", Check, "Equal"],
  diverged: ["warn", TriangleAlert, "Diverged"],
  failed: ["bad", X, "Failed"],
};

/** Label of a case's status. */
export const caseWords = (status: CaseStatus): string => caseLooks[status][2];

/** Outcome of a case; without a status it has not been run. */
export function CasePill({ status }: { status: CaseStatus | undefined }) {
  if (!status)
    return (
      <Pill tone="plain" icon={Minus}>
        Not run
      </Pill>
    );
  const [tone, icon, word] = caseLooks[status];
  return (
    <Pill tone={tone} icon={icon}>
      {word}
    </Pill>
  );
}

/** Result of a live continuation. */
export function LivePill({ live }: { live: LiveResult }) {
  const goes = live.status === "in_progress" || live.status === "queued";
  const [tone, icon]: [Tone, LucideIcon] = goes
    ? ["info", LoaderCircle]
    : live.status === "skipped"
      ? ["plain", Minus]
      : live.status !== "completed"
        ? ["bad", X]
        : live.output_equal
          ? ["ok", Check]
          : ["warn", TriangleAlert];
  return (
    <Pill tone={tone} icon={icon} spin={goes}>
      {live.status === "completed" || live.status === "skipped" || goes ? liveWords(live) : "Fork failed"}
    </Pill>
  );
}
