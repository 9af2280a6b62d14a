import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { AnswerEdited } from "./answer-edited.tsx";
import { Acts, AnswerForm, type AnswerProps } from "./answer-form.tsx";
import { AnswerReject } from "./answer-reject.tsx";
import { CallArguments } from "./call-arguments.tsx";

/** Whether a call may be made: as it was asked for, with other arguments, or not at all. */
export function AnswerApproval(props: AnswerProps) {
  const { call, busy, onAnswer } = props;
  const [step, setStep] = useState<"decide" | "edit" | "reject">("decide");
  /** The button that was pressed has the focus again after the way back. */
  const [left, setLeft] = useState<"edit" | "reject" | null>(null);
  const go = (to: "edit" | "reject") => {
    setStep(to);
    setLeft(to);
  };
  const back = () => setStep("decide");
  if (step === "edit") return <AnswerEdited {...props} onBack={back} />;
  if (step === "reject") return <AnswerReject {...props} onBack={back} />;
  return (
    <AnswerForm onSend={() => onAnswer({ tool_call_id: call.id, decision: "approve" })}>
      <CallArguments value={call.arguments} />
      <Acts>
        <Button type="submit" kind="primary" disabled={busy} data-act="approve">
          Approve
        </Button>
        <Button disabled={busy} autoFocus={left === "edit"} onClick={() => go("edit")}>
          Edit arguments
        </Button>
        <Button
          kind="danger-quiet"
          disabled={busy}
          data-act="reject"
          autoFocus={left === "reject"}
          onClick={() => go("reject")}
        >
          Reject…
        </Button>
      </Acts>
    </AnswerForm>
  );
}
