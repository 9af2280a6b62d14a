import { CircleHelp } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { formatElapsed } from "../lib/format.ts";
import { isJsonObject, jsonText, readJson } from "../lib/json-text.ts";
import { sendOnEnter } from "../lib/send-on-enter.ts";
import type { PendingCall } from "../lib/types.ts";
import { useNow } from "../lib/use-now.ts";
import type { ToolAnswer } from "./answer-call.ts";
import { Button } from "./button.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./field.tsx";
import { JsonView } from "./json-view.tsx";
import { TextArea } from "./text-area.tsx";

interface AnswerCardProps {
  call: PendingCall;
  /** While an answer is on its way. */
  busy: boolean;
  /** Why the last answer was refused. */
  error: Error | null;
  /** Beside the title: where the call comes from, say. */
  aside?: ReactNode;
  /** What the output of a client tool could look like. */
  example?: unknown;
  /** Takes the focus to its first field when it comes. */
  autoFocus?: boolean;
  onAnswer: (answer: ToolAnswer) => void;
}

/** A call that waits for a person: an output, an approval, or what became of it. ⌘↵ gives the answer. */
export function AnswerCard(props: AnswerCardProps) {
  const { call, error, aside } = props;
  const titles = {
    output: `${call.tool} waits for its output`,
    approval: `Approve ${call.tool}?`,
    reconcile: `Did ${call.tool} happen?`,
  };
  const Form = { output: OutputForm, approval: ApprovalForm, reconcile: ReconcileForm }[call.needs];
  return (
    <article
      data-call={call.id}
      className="flex min-w-0 flex-col gap-3 rounded-md border border-warn-line bg-surface p-3 ring-3 ring-warn-soft"
    >
      <header className="flex min-w-0 items-start gap-2">
        <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" strokeWidth={1.5} />
        <h3 className="min-w-0 flex-1 font-strong wrap-anywhere">{titles[call.needs]}</h3>
        {aside}
      </header>
      {error && <ErrorNote title="The answer was not taken" error={error} />}
      <Form {...props} />
      <Expiry at={call.expires_at} />
    </article>
  );
}

function Expiry({ at }: { at: string | null }) {
  const now = useNow(at !== null);
  if (!at) return null;
  const left = Date.parse(at) - now;
  return (
    <p className="text-xs text-muted">
      {left > 0 ? `Without an answer the run fails in ${formatElapsed(left)}.` : "The time for an answer is over."}
    </p>
  );
}

function OutputForm({ call, busy, example, autoFocus, onAnswer }: AnswerCardProps) {
  const [text, setText] = useState(() => jsonText(example ?? {}));
  const [refused, setRefused] = useState<string | null>(null);
  const read = readJson(text);
  const send = (is_error: boolean) => {
    if (read.fault) setRefused(read.fault);
    else onAnswer({ tool_call_id: call.id, output: read.value, ...(is_error && { is_error }) });
  };
  return (
    <AnswerForm onSend={() => send(false)}>
      <Arguments value={call.arguments} />
      <TextArea
        label="Output"
        hint="Any JSON. Text stands in quotes."
        mono
        rows={4}
        value={text}
        error={read.fault && refused ? read.fault : null}
        autoFocus={autoFocus}
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

function ApprovalForm(props: AnswerCardProps) {
  const { call, busy, onAnswer } = props;
  const [step, setStep] = useState<"decide" | "edit" | "reject">("decide");
  const back = () => setStep("decide");
  if (step === "edit") return <EditedForm {...props} onBack={back} />;
  if (step === "reject") return <RejectForm {...props} onBack={back} />;
  return (
    <AnswerForm onSend={() => onAnswer({ tool_call_id: call.id, decision: "approve" })}>
      <Arguments value={call.arguments} />
      <Acts>
        <Button type="submit" kind="primary" disabled={busy} data-act="approve">
          Approve
        </Button>
        <Button disabled={busy} onClick={() => setStep("edit")}>
          Edit arguments
        </Button>
        <Button kind="danger-quiet" disabled={busy} data-act="reject" onClick={() => setStep("reject")}>
          Reject…
        </Button>
      </Acts>
    </AnswerForm>
  );
}

function EditedForm({ call, busy, onAnswer, onBack }: AnswerCardProps & { onBack: () => void }) {
  const [text, setText] = useState(() => jsonText(call.arguments));
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

function RejectForm({ call, busy, onAnswer, onBack }: AnswerCardProps & { onBack: () => void }) {
  const [reason, setReason] = useState("");
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

const outcomes = [
  { value: "happened", label: "It happened", hint: "The run goes on with the result that you enter." },
  { value: "again", label: "Run it again", hint: "The call is made once more, with the same idempotency key." },
  { value: "not", label: "It did not happen", hint: "The model is told so, and decides what to do." },
] as const;

function ReconcileForm({ call, busy, onAnswer }: AnswerCardProps) {
  const name = useId();
  const [outcome, setOutcome] = useState<(typeof outcomes)[number]["value"] | null>(null);
  const [text, setText] = useState("{}");
  const read = readJson(text);
  const answers: Record<string, Omit<ToolAnswer, "tool_call_id">> = {
    happened: { output: read.value },
    again: { decision: "approve" },
    not: { decision: "reject" },
  };
  const isReady = outcome !== null && (outcome !== "happened" || !read.fault);
  const send = () => {
    if (outcome && isReady) onAnswer({ tool_call_id: call.id, ...answers[outcome] });
  };
  return (
    <AnswerForm onSend={send}>
      <p className="text-muted">
        The server stopped while this call was under way, and the tool is not marked as idempotent. Look for{" "}
        <code className="wrap-anywhere">{call.id}</code> where it would have had its effect, then tell the run:
      </p>
      <Arguments value={call.arguments} />
      <fieldset className="flex flex-col gap-2">
        <legend className="sr-only">What became of the call</legend>
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
              className="mt-1 size-3.5 shrink-0 accent-accent focus-visible:shadow-none"
            />
            <span className="min-w-0">
              <span className="block font-medium">{label}</span>
              <span className="block text-xs text-muted">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {outcome === "happened" && (
        <TextArea
          label="Result of the call"
          hint="Any JSON. Text stands in quotes."
          mono
          rows={3}
          value={text}
          error={read.fault}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <Acts>
        <Button type="submit" kind="primary" disabled={busy || !isReady}>
          Continue the run
        </Button>
      </Acts>
    </AnswerForm>
  );
}

/** What was asked, as a list: it is read, not parsed. */
function Arguments({ value }: { value: unknown }) {
  const entries = isJsonObject(value) ? Object.entries(value) : [["Arguments", value] as const];
  if (entries.length === 0) return <p className="text-muted">It has no arguments.</p>;
  return (
    <dl aria-label="Arguments" className="max-h-80 overflow-y-auto rounded-md border border-line bg-subtle px-3 py-1.5">
      {entries.map(([key, each]) => (
        <div key={key} className="flex min-w-0 flex-wrap gap-x-3 py-1">
          <dt className="shrink-0 text-xs leading-(--leading-sm) text-muted">{key}</dt>
          <dd className="min-w-0 flex-1 font-medium wrap-anywhere">
            {typeof each === "string" ? each : isPlain(each) ? String(each) : <JsonView value={each} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const isPlain = (value: unknown): boolean => typeof value === "number" || typeof value === "boolean" || value === null;

function Acts({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-2">{children}</div>;
}

function AnswerForm({ onSend, children }: { onSend: () => void; children: ReactNode }) {
  return (
    <form
      noValidate
      className="flex min-w-0 flex-col gap-3"
      onKeyDown={sendOnEnter}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      {children}
    </form>
  );
}
