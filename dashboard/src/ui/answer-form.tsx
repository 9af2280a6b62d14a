import type { ReactNode } from "react";
import { sendOnEnter } from "../lib/send-on-enter.ts";
import type { PendingCall } from "../lib/types.ts";
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

/** The acts at its foot. */
export function Acts({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-2">{children}</div>;
}
