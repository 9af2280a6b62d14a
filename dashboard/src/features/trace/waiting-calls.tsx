import type { PendingCall } from "../../lib/types.ts";
import { useAnswerCall } from "../../ui/answer-call.ts";
import { AnswerCard } from "../../ui/answer-card.tsx";

/** What waits for a person, to be answered in place. */
export function WaitingCalls({ runId, calls }: { runId: string; calls: readonly PendingCall[] }) {
  return calls.map((call) => <WaitingCall key={call.id} runId={runId} call={call} />);
}

function WaitingCall({ runId, call }: { runId: string; call: PendingCall }) {
  const answer = useAnswerCall(runId);
  return (
    <AnswerCard
      call={call}
      busy={answer.isPending || answer.isSuccess}
      error={answer.error}
      onAnswer={(said) => answer.mutate(said)}
    />
  );
}
