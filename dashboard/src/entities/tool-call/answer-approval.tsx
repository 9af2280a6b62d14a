import { useState } from "react";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { useDraftText } from "../session/use-kept-text.ts";
import { AnswerButtons, AnswerForm, type AnswerProps, CallArguments } from "./answer-form.tsx";

/** Form that approves a call, approves it with changed arguments, or rejects it. */
export function AnswerApproval(props: AnswerProps) {
  const { call, busy, onAnswer } = props;
  const [step, setStep] = useState<"decide" | "edit" | "reject">("decide");
  /** Form to return from, so that its button gets the focus back. */
  const [lastForm, setLastForm] = useState<"edit" | "reject" | null>(null);
  const go = (to: "edit" | "reject") => {
    setStep(to);
    setLastForm(to);
  };
  const back = () => setStep("decide");
  if (step === "edit") return <AnswerEdited {...props} onBack={back} />;
  if (step === "reject") return <AnswerReject {...props} onBack={back} />;
  return (
    <AnswerForm onSend={() => onAnswer({ tool_call_id: call.tool_call_id, decision: "approve" })}>
      <CallArguments value={call.arguments} />
      <AnswerButtons>
        <Button type="submit" kind="primary" disabled={busy} data-act="approve">
          Approve
        </Button>
        <Button disabled={busy} autoFocus={lastForm === "edit"} onClick={() => go("edit")}>
          Edit arguments
        </Button>
        <Button
          kind="danger-quiet"
          disabled={busy}
          data-act="reject"
          autoFocus={lastForm === "reject"}
          onClick={() => go("reject")}
        >
          Reject…
        </Button>
      </AnswerButtons>
    </AnswerForm>
  );
}

/** Approves a call with changed arguments. */
function AnswerEdited({ call, busy, onAnswer, onBack }: AnswerProps & { onBack: () => void }) {
  const [text, setText] = useDraftText(`answer.${call.tool_call_id}.arguments`, jsonText(call.arguments));
  const read = readJson(text);
  const fault = read.fault ?? (isJsonObject(read.value) ? null : "Must be an object: { … }.");
  const send = () => {
    if (!fault && isJsonObject(read.value))
      onAnswer({ tool_call_id: call.tool_call_id, decision: "approve", arguments: read.value });
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
      <AnswerButtons>
        <Button type="submit" kind="primary" disabled={busy || fault !== null}>
          Approve with changes
        </Button>
        <Button onClick={onBack}>Back</Button>
      </AnswerButtons>
    </AnswerForm>
  );
}

/** Rejects a call with a reason for the model. */
function AnswerReject({ call, busy, onAnswer, onBack }: AnswerProps & { onBack: () => void }) {
  const [reason, setReason] = useDraftText(`answer.${call.tool_call_id}.reason`);
  const send = () =>
    onAnswer({ tool_call_id: call.tool_call_id, decision: "reject", ...(reason.trim() && { reason: reason.trim() }) });
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
      <AnswerButtons>
        <Button type="submit" kind="danger" disabled={busy}>
          Reject call
        </Button>
        <Button onClick={onBack}>Back</Button>
      </AnswerButtons>
    </AnswerForm>
  );
}
