import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { useKeptText } from "../session/use-kept-text.ts";
import { Acts, AnswerForm, type AnswerProps } from "./answer-form.tsx";

/** Approves a call with other arguments than it was asked for with. */
export function AnswerEdited({ call, busy, onAnswer, onBack }: AnswerProps & { onBack: () => void }) {
  const [text, setText] = useKeptText(`answer.${call.id}.arguments`, jsonText(call.arguments));
  const read = readJson(text);
  const fault = read.fault ?? (isJsonObject(read.value) ? null : "Arguments are an object: { … }.");
  const send = () => {
    if (!fault && isJsonObject(read.value))
      onAnswer({ tool_call_id: call.id, decision: "approve", arguments: read.value });
  };
  return (
    <AnswerForm onSend={send}>
      <TextArea
        label="Arguments"
        mono
        rows={5}
        value={text}
        error={fault}
        hint="The call is made with these. The model reads them too."
        autoFocus
        onChange={(event) => setText(event.target.value)}
      />
      <Acts>
        <Button type="submit" kind="primary" disabled={busy || fault !== null}>
          Approve these
        </Button>
        <Button onClick={onBack}>Back</Button>
      </Acts>
    </AnswerForm>
  );
}
