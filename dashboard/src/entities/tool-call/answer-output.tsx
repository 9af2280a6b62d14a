import { useId, useState } from "react";
import { readJson } from "../../lib/json-text.ts";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { useDraftText } from "../session/use-kept-text.ts";
import type { ToolAnswer } from "./answer-call.ts";
import { AnswerButtons, AnswerForm, type AnswerProps, CallArguments } from "./answer-form.tsx";

/** Form for a client tool's call: the output as JSON, or an error. */
export function AnswerOutput({ call, busy, onAnswer }: AnswerProps) {
  const [text, setText] = useDraftText(`answer.${call.tool_call_id}.output`);
  const [parseFault, setParseFault] = useState<string | null>(null);
  const read = readJson(text);
  const send = (is_error: boolean) => {
    if (read.fault) setParseFault(read.fault);
    else onAnswer({ tool_call_id: call.tool_call_id, output: read.value, ...(is_error && { is_error }) });
  };
  return (
    <AnswerForm onSend={() => send(false)}>
      <CallArguments value={call.arguments} />
      <CodeEditor
        label="Output"
        hint="Any JSON value. Put text in quotes."
        language="json"
        value={text}
        error={read.fault && parseFault ? read.fault : null}
        onText={setText}
        onLeave={() => setParseFault(read.fault)}
      />
      <AnswerButtons>
        <Button type="submit" kind="primary" disabled={busy}>
          Send output
        </Button>
        <Button disabled={busy} onClick={() => send(true)} title="The model receives this output as an error">
          Send as an error
        </Button>
      </AnswerButtons>
    </AnswerForm>
  );
}

const outcomes = [
  { value: "happened", label: "It took effect", hint: "The run continues with the result you enter." },
  { value: "again", label: "Run it again", hint: "The call runs again with the same idempotency key." },
  { value: "not", label: "It did not take effect", hint: "The model is told and decides what to do." },
] as const;

/** Form for the outcome of a call whose result was lost. */
export function AnswerReconcile({ call, busy, onAnswer }: AnswerProps) {
  const name = useId();
  const [outcome, setOutcome] = useState<(typeof outcomes)[number]["value"] | null>(null);
  const [text, setText] = useDraftText(`answer.${call.tool_call_id}.result`);
  const read = readJson(text);
  const answers: Record<string, Omit<ToolAnswer, "tool_call_id">> = {
    happened: { output: read.value },
    again: { decision: "approve" },
    not: { decision: "reject" },
  };
  const isReady = outcome !== null && (outcome !== "happened" || !read.fault);
  const send = () => {
    if (outcome && isReady) onAnswer({ tool_call_id: call.tool_call_id, ...answers[outcome] });
  };
  return (
    <AnswerForm onSend={send}>
      <p className="text-muted">
        It is unknown whether this call took effect: the server stopped during the call, or no response came, and the
        tool is not marked as safe to repeat. Look for <code className="wrap-anywhere">{call.tool_call_id}</code> where
        it would have taken effect, then choose:
      </p>
      <CallArguments value={call.arguments} />
      <fieldset className="flex flex-col gap-2">
        <legend className="sr-only">Resolution</legend>
        {outcomes.map(({ value, label, hint }) => (
          <label
            key={value}
            className="flex cursor-pointer items-start gap-2.5 rounded-md border border-line-button px-3 py-2 hover:bg-hover has-checked:border-accent-line has-checked:bg-accent-soft has-focus-visible:shadow-(--focus)"
          >
            <input
              type="radio"
              name={name}
              checked={outcome === value}
              onChange={() => setOutcome(value)}
              className="mt-0.5 focus-visible:shadow-none"
            />
            <span className="min-w-0">
              <span className="block font-medium">{label}</span>
              <span className="block text-xs text-muted">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {outcome === "happened" && (
        <CodeEditor
          label="Result of the call"
          hint="Any JSON value. Put text in quotes."
          language="json"
          value={text}
          error={text.trim() ? read.fault : null}
          onText={setText}
        />
      )}
      <AnswerButtons>
        <Button type="submit" kind="primary" disabled={busy || !isReady}>
          Continue the run
        </Button>
      </AnswerButtons>
    </AnswerForm>
  );
}
