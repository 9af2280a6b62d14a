import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { useKeptText } from "../session/use-kept-text.ts";
import { Acts, AnswerForm, type AnswerProps } from "./answer-form.tsx";

/** Rejects a call, with a reason that the model reads. */
export function AnswerReject({ call, busy, onAnswer, onBack }: AnswerProps & { onBack: () => void }) {
  const [reason, setReason] = useKeptText(`answer.${call.id}.reason`);
  const send = () =>
    onAnswer({ tool_call_id: call.id, decision: "reject", ...(reason.trim() && { reason: reason.trim() }) });
  return (
    <AnswerForm onSend={send}>
      <Field
        label="Reason"
        hint="The model reads it and goes on without the call."
        value={reason}
        maxLength={500}
        autoFocus
        onChange={(event) => setReason(event.target.value)}
      />
      <Acts>
        <Button type="submit" kind="danger" disabled={busy}>
          Reject call
        </Button>
        <Button onClick={onBack}>Back</Button>
      </Acts>
    </AnswerForm>
  );
}
