import type { KeyboardEvent, MouseEvent, ReactNode } from "react";
import type { RequiredCallObject as PendingCall } from "../../../../server/domain/required-action.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { JsonView } from "../../ui/data/json-view.tsx";
import type { ToolAnswer } from "./answer-call.ts";

/** Props of every answer form. */
export interface AnswerProps {
  call: PendingCall;
  /** True while an answer is being sent. */
  busy: boolean;
  onAnswer: (answer: ToolAnswer) => void;
}

/** Form of an answer; ⌘↵ submits it. */
export function AnswerForm({ onSend, children }: { onSend: (form: HTMLFormElement) => void; children: ReactNode }) {
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
        onSend(event.currentTarget);
      }}
    >
      {children}
    </form>
  );
}

/** Ignores a held Enter: after one answer the focus moves to the next card, which would be answered unseen. */
function restWhileHeld(event: KeyboardEvent): void {
  if (event.key === "Enter" && event.repeat && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
}

/** Ignores the second click of a double click: after the first one the next call may stand in its place. */
function restWhileDouble(event: MouseEvent): void {
  if (event.detail < 2 || !(event.target as Element).closest("button")) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Buttons at the foot. */
export function AnswerButtons({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-2">{children}</div>;
}

/** Arguments of a call as a readable list. */
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
