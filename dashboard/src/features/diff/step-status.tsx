import { CircleHelp, LoaderCircle, Square, X } from "lucide-react";
import { Pill } from "../../ui/pill.tsx";

const looks = {
  failed: ["bad", X, "Failed"],
  unknown: ["warn", CircleHelp, "Outcome unknown"],
  waiting: ["warn", CircleHelp, "Waiting"],
  rejected: ["plain", X, "Rejected"],
  cancelled: ["plain", Square, "Cancelled"],
  in_progress: ["info", LoaderCircle, "Running"],
} as const;

/** What is the matter with a step; success is silent. */
export function StepStatus({ status }: { status: string }) {
  if (!Object.hasOwn(looks, status)) return null;
  const [tone, icon, word] = looks[status as keyof typeof looks];
  return (
    <Pill tone={tone} icon={icon}>
      {word}
    </Pill>
  );
}
