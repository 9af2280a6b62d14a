import type { PendingCall } from "../../lib/types.ts";
import { useMay } from "../../lib/use-may.ts";
import { useAnswerCall } from "../../ui/answer-call.ts";
import { AnswerCard } from "../../ui/answer-card.tsx";
import { UnansweredCall } from "../../ui/unanswered-call.tsx";

/** What waits for a person, to be answered in place by who may. */
export function WaitingCalls({ runId, calls }: { runId: string; calls: readonly PendingCall[] }) {
  const may = useMay("member");
  if (!may) return calls.map((call) => <UnansweredCall key={call.id} call={call} />);
  // What was approved may need its output then: that is another question.
  return calls.map((call) => <WaitingCall key={`${call.id} ${call.needs}`} runId={runId} call={call} />);
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
