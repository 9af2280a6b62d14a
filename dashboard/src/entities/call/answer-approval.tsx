import { useState } from "react";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Field } from "../../ui/field.tsx";
import { useKeptText } from "../session/use-kept-text.ts";
import { Acts, AnswerForm, type AnswerProps, CallArguments } from "./answer-form.tsx";

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

/** Approves a call with other arguments than it was asked for with. */
function AnswerEdited({ call, busy, onAnswer, onBack }: AnswerProps & { onBack: () => void }) {
  const [text, setText] = useKeptText(`answer.${call.id}.arguments`, jsonText(call.arguments));
  const read = readJson(text);
  const fault = read.fault ?? (isJsonObject(read.value) ? null : "Expected an object: { … }.");
  const send = () => {
    if (!fault && isJsonObject(read.value))
      onAnswer({ tool_call_id: call.id, decision: "approve", arguments: read.value });
  };
  return (
    <AnswerForm onSend={send}>
      <CallArguments value={call.arguments} />
      <CodeEditor
        label="New arguments"
        language="json"
        value={text}
        error={fault}
        hint="The call runs with these arguments. The model sees them too."
        autoFocus
        onText={setText}
      />
      <Acts>
        <Button type="submit" kind="primary" disabled={busy || fault !== null}>
          Approve with changes
        </Button>
        <Button onClick={onBack}>Back</Button>
      </Acts>
    </AnswerForm>
  );
}

/** Rejects a call, with a reason that the model reads. */
function AnswerReject({ call, busy, onAnswer, onBack }: AnswerProps & { onBack: () => void }) {
  const [reason, setReason] = useKeptText(`answer.${call.id}.reason`);
  const send = () =>
    onAnswer({ tool_call_id: call.id, decision: "reject", ...(reason.trim() && { reason: reason.trim() }) });
  return (
    <AnswerForm onSend={send}>
      <CallArguments value={call.arguments} />
      <Field
        label="Reason"
        hint="The model receives it and continues without the call."
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
