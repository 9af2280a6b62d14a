import type { HandoffPart } from "../../../../server/domain/api-types/run-view.ts";
import { StepIcon } from "../../ui/data/step-icon.tsx";

/** The place in a conversation from which another agent answers. */
export const HandoffLine = ({ part: { agentName, reason } }: { part: Pick<HandoffPart, "agentName" | "reason"> }) => (
  <div className="flex min-w-0 items-start gap-2 text-muted">
    <StepIcon type="handoff" />
    <p className="min-w-0 wrap-anywhere">
      <span className="font-medium text-ink">{agentName}</span> answers from here
      {reason && <span className="block text-xs">{reason}</span>}
    </p>
  </div>
);

/** Says below an answer that a message of the user ended it. */
export const InterruptedNote = () => <p className="text-xs text-muted">Interrupted by a message.</p>;
