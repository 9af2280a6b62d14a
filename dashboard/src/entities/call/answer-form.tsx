import type { KeyboardEvent, MouseEvent, ReactNode } from "react";
import type { RequiredCall as PendingCall } from "../../../../server/core/run-event.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { JsonView } from "../../ui/json-view.tsx";
import type { ToolAnswer } from "./answer-call.ts";

/** What every form of an answer is given. */
export interface AnswerProps {
  call: PendingCall;
  /** While an answer is on its way. */
  busy: boolean;
  onAnswer: (answer: ToolAnswer) => void;
}

/** The form of an answer; ⌘↵ sends it from wherever in it the focus is. */
export function AnswerForm({ onSend, children }: { onSend: () => void; children: ReactNode }) {
  return (
    <form
      noValidate
      className="flex min-w-0 flex-col gap-3"
      onKeyDown={(event) => {
        sendOnEnter(event);
        restWhileHeld(event);
      }}
      onClickCapture={restWhileDouble}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      {children}
    </form>
  );
}

/** The answer may have brought the focus here: the Enter that gave it, still held, would answer this call unseen. */
function restWhileHeld(event: KeyboardEvent): void {
  if (event.key === "Enter" && event.repeat && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
}

/** The first click of a double one may have given the answer before: the next call stands in its place by then. */
function restWhileDouble(event: MouseEvent): void {
  if (event.detail < 2 || !(event.target as Element).closest("button")) return;
  event.preventDefault();
  event.stopPropagation();
}

/** The acts at its foot. */
export function Acts({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-2">{children}</div>;
}

/** What was asked, as a list: it is read, not parsed. */
export function CallArguments({ value }: { value: unknown }) {
  const entries = isJsonObject(value) ? Object.entries(value) : [["Arguments", value] as const];
  if (entries.length === 0) return <p className="text-muted">No arguments.</p>;
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
