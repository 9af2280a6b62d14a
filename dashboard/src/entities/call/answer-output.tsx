import { useState } from "react";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { useKeptText } from "../session/use-kept-text.ts";
import { Acts, AnswerForm, type AnswerProps } from "./answer-form.tsx";
import { CallArguments } from "./call-arguments.tsx";

/** For a client tool: what it gave, as JSON, or what went wrong. */
export function AnswerOutput({ call, busy, example, onAnswer }: AnswerProps & { example: unknown }) {
  const [begun] = useState(() => jsonText(example ?? {}));
  const [text, setText] = useKeptText(`answer.${call.id}.output`, begun);
  const [refused, setRefused] = useState<string | null>(null);
  const read = readJson(text);
  const send = (is_error: boolean) => {
    if (read.fault) setRefused(read.fault);
    else onAnswer({ tool_call_id: call.id, output: read.value, ...(is_error && { is_error }) });
  };
  return (
    <AnswerForm onSend={() => send(false)}>
      <CallArguments value={call.arguments} />
      <TextArea
        label="Output"
        hint="Any JSON. Text stands in quotes."
        mono
        rows={4}
        value={text}
        error={read.fault && refused ? read.fault : null}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => setRefused(read.fault)}
      />
      <Acts>
        <Button type="submit" kind="primary" disabled={busy}>
          Send output
        </Button>
        <Button disabled={busy} onClick={() => send(true)} title="The model reads this output as an error">
          Send as an error
        </Button>
      </Acts>
    </AnswerForm>
  );
}
