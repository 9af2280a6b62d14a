import type { ReactNode } from "react";
import type { TextPart } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { MessageCard, Reasoning } from "../../entities/run/message-card.tsx";
import { joinFacts, plural } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { isInterruptedCall } from "./interrupted-call.ts";
import { useReplayProgress } from "./replay-context.ts";
import { PendingOutput, StepText } from "./step-text.tsx";

type AskedCalls = { id: string; name: string; arguments: unknown }[];

/** Output of a model call; while it streams, the text so far. */
export function modelOutput(step: TraceStep, live: TextPart | undefined) {
  const { content, tool_calls } = fieldsOf(step.output);
  const isOpen = step.output === null;
  return {
    isWriting: step.status === "in_progress",
    text: isOpen ? (live?.output ?? "") : String(content ?? ""),
    reasoning: (isOpen ? live?.reasoning : step.reasoning) ?? "",
    calls: (Array.isArray(tool_calls) ? tool_calls : []) as AskedCalls,
  };
}

/** A model's message, with `children` below it. Renders nothing if both are empty. */
export function AnswerCard({
  step,
  live,
  agent,
  children,
}: {
  step: TraceStep;
  live?: TextPart;
  /** Name of the agent that answers, if there are several. */
  agent?: string | undefined;
  children: ReactNode;
}) {
  const isWhole = useReplayProgress() === "all";
  const { isWriting, text, reasoning } = modelOutput(step, live);
  const tokens = step.usage?.output_tokens;
  if (!isWriting && !text && !reasoning && !children) return null;
  return (
    <MessageCard
      by="assistant"
      name={agent}
      aside={joinFacts(
        isWhole && isInterruptedCall(step) && "Interrupted",
        tokens == null ? "" : plural(tokens, "token"),
      )}
    >
      {isWhole && reasoning && <Reasoning text={reasoning} />}
      {(text || isWriting) && <StepText text={text} name="output" growing={isWriting} />}
      {!isWhole && !text && <PendingOutput />}
      {isWhole && children}
    </MessageCard>
  );
}
