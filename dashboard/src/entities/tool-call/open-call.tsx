import { CircleHelp } from "lucide-react";
import { useRef } from "react";
import type { RequiredCallObject as PendingCall } from "../../../../server/domain/required-action.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { removeSessionValue } from "../../lib/session-storage.ts";
import { JsonView } from "../../ui/data/json-view.tsx";
import { usePersonalStorageKey } from "../session/use-kept-text.ts";
import { usePermission } from "../session/use-may.ts";
import { type ToolAnswer, useAnswerCall } from "./answer-call.ts";
import { AnswerCard } from "./answer-card.tsx";
import { findCall } from "./next-call.ts";

/**
 * A pending call that permitted people answer in place. Its key is the id and the need: an approved call may then need
 * its output, which is a new form.
 */
export function OpenCall({
  runId,
  call,
  onAnswered,
  onRefused,
}: {
  runId: string;
  call: PendingCall;
  onAnswered?: (answer: ToolAnswer) => void;
  onRefused?: (error: Error) => void;
}) {
  const may = usePermission("member");
  const place = useRef<HTMLDivElement>(null);
  const answer = useAnswerCall(runId);
  const draftKey = usePersonalStorageKey(`answer.${call.tool_call_id}.`);
  if (!may) return <UnansweredCall call={call} />;
  const sendAnswer = async (response: ToolAnswer) => {
    try {
      await answer.mutateAsync(response);
    } catch (error) {
      onRefused?.(error as Error);
      // Its buttons were disabled while sending and lost the focus.
      requestAnimationFrame(() => {
        if (place.current && document.activeElement === document.body) findCall(place.current)?.focus();
      });
      return;
    }
    removeSessionValue(draftKey);
    onAnswered?.(response);
  };
  return (
    <div ref={place} className="min-w-0">
      <AnswerCard
        call={call}
        busy={answer.isPending || answer.isSuccess}
        error={answer.error}
        onAnswer={(given) => void sendAnswer(given)}
      />
    </div>
  );
}

const words = {
  output: "waits for its output",
  approval: "waits for approval",
  reconcile: "has an unknown outcome",
  authorization: "waits for a consent",
  elicitation: "waits for an answer to its question",
};

/** A pending call for people who may not answer it. */
function UnansweredCall({ call }: { call: Pick<PendingCall, "name" | "needs" | "arguments"> }) {
  const isEmpty = isJsonObject(call.arguments) && Object.keys(call.arguments).length === 0;
  return (
    <article className="flex min-w-0 flex-col gap-2 rounded-md border border-line p-3">
      <h3 className="flex min-w-0 items-start gap-2 font-strong wrap-anywhere">
        <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" strokeWidth={1.5} />
        {call.name} {words[call.needs]}
      </h3>
      {!isEmpty && <JsonView value={call.arguments} />}
    </article>
  );
}
