import { CircleHelp } from "lucide-react";
import type { ReactNode } from "react";
import { useNow } from "../../hooks/use-now.ts";
import { formatElapsed } from "../../lib/format.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { AnswerApproval } from "./answer-approval.tsx";
import { AnswerElicitation } from "./answer-elicitation.tsx";
import type { AnswerProps } from "./answer-form.tsx";
import { AnswerOutput, AnswerReconcile } from "./answer-output.tsx";

interface AnswerCardProps extends AnswerProps {
  /** Error of the last answer. */
  error: Error | null;
  /** Content beside the title, such as the call's origin. */
  aside?: ReactNode;
}

/**
 * A call that waits for a person: an output, an approval, the outcome of an interrupted call, or a question. ⌘↵ sends the answer.
 */
export function AnswerCard({ error, aside, ...answer }: AnswerCardProps) {
  const { call } = answer;
  const titles = {
    output: `${call.name} waits for its output`,
    approval: `Approve ${call.name}?`,
    reconcile: `Did ${call.name} take effect?`,
    authorization: `${call.name} waits for a consent`,
    elicitation: `${call.name} asks a question`,
  };
  const forms = {
    output: () => <AnswerOutput {...answer} />,
    approval: () => <AnswerApproval {...answer} />,
    reconcile: () => <AnswerReconcile {...answer} />,
    authorization: () => null, // Its user gives it: `ConsentCard`.
    elicitation: () => <AnswerElicitation {...answer} />,
  };
  return (
    <article
      data-call={call.tool_call_id}
      className="flex min-w-0 flex-col gap-3 rounded-md border border-warn-line bg-surface p-3 ring-3 ring-warn-soft"
    >
      <header className="flex min-w-0 items-start gap-2">
        <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" strokeWidth={1.5} />
        <h3
          {...(call.needs !== "output" && { "data-rest": true, tabIndex: -1 })}
          className="min-w-0 flex-1 rounded-sm font-strong wrap-anywhere"
        >
          {titles[call.needs]}
        </h3>
        {aside}
      </header>
      <ErrorNote title="The response was not accepted" error={error} />
      {forms[call.needs]()}
      <Expiry at={call.expires_at} />
    </article>
  );
}

function Expiry({ at }: { at: string | null }) {
  const now = useNow(at !== null);
  if (!at) return null;
  const remaining_ms = Date.parse(at) - now;
  return (
    <p className="text-xs text-muted">
      {remaining_ms > 0
        ? `Without a response the run fails in ${formatElapsed(remaining_ms)}.`
        : "This call has expired."}
    </p>
  );
}
