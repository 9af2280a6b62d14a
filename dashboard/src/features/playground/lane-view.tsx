import type { ReactNode } from "react";
import { useFollowEnd } from "../../lib/use-follow-end.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import type { Turn } from "./turn.ts";
import { TurnView } from "./turn-view.tsx";
import type { Lane } from "./use-lane.ts";

/** A conversation. Its end stays in sight while the reader has it in sight. */
export function LaneView({
  lane,
  label,
  head,
  narrow = false,
  readOnly,
  onAgain,
  children,
}: {
  lane: Lane;
  label: string;
  head?: ReactNode;
  /** Of two side by side. */
  narrow?: boolean;
  readOnly: boolean;
  onAgain: (turn: Turn) => void;
  /** What stands there before the first input. */
  children?: ReactNode;
}) {
  const scroller = useFollowEnd(true, lane.turns);
  return (
    <section
      ref={scroller}
      aria-label={label}
      className="min-h-0 min-w-0 flex-1 overflow-y-auto px-4 pt-4 pb-4 rail:px-5"
    >
      <div className="mx-auto flex min-w-0 max-w-(--pg-read) flex-col gap-6">
        <h2 className="sr-only">{label}</h2>
        {head}
        {lane.isReading && <Skeleton className="w-1/2" />}
        {lane.error && (
          <ErrorNote title="The conversation cannot be shown" error={lane.error} onRetry={lane.readAgain} />
        )}
        {lane.turns.length === 0 && !lane.isReading && !lane.error && children}
        {lane.turns.map((turn, index) => (
          <TurnView
            key={turn.key}
            turn={turn}
            narrow={narrow}
            readOnly={readOnly}
            onAnswered={(answer) => lane.note(turn, answer)}
            onAgain={readOnly || lane.isBusy || index < lane.turns.length - 1 ? undefined : () => onAgain(turn)}
          />
        ))}
      </div>
    </section>
  );
}
