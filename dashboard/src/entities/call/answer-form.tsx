import type { KeyboardEvent, ReactNode } from "react";
import type { RequiredCall as PendingCall } from "../../../../server/core/run-event.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
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

/** The acts at its foot. */
export function Acts({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-2">{children}</div>;
}
