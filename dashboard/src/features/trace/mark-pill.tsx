import { CircleHelp, Hand, LoaderCircle, type LucideIcon, Square, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { Pill, type Tone } from "../../ui/data/pill.tsx";
import type { Mark } from "./row.ts";

const looks: Record<NonNullable<Mark>, [Tone, LucideIcon]> = {
  failed: ["bad", X],
  unknown: ["warn", CircleHelp],
  waiting: ["warn", Hand],
  running: ["info", LoaderCircle],
  rejected: ["plain", Square],
  cancelled: ["plain", Square],
  flagged: ["warn", TriangleAlert],
};

/** Badge for a step that needs attention; renders nothing without a mark. */
export function MarkPill({ mark, word }: { mark: Mark; word: ReactNode }) {
  if (mark === null) return null;
  const [tone, icon] = looks[mark];
  return (
    <Pill tone={tone} icon={icon} spin={mark === "running"}>
      {word}
    </Pill>
  );
}
