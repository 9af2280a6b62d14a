import type { ReactNode } from "react";
import type { TextPart } from "../../../../server/wire/fold-frames.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { MessageCard, Reasoning } from "../../entities/run/message-card.tsx";
import { formatCount } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { useReached } from "./replay-context.ts";
import { NotYet, StepText } from "./step-text.tsx";

type AskedCalls = { id: string; name: string; arguments: unknown }[];

/** What a model call has come to: while it writes, as far as it got. */
export function writtenBy(step: TraceStep, live: TextPart | undefined) {
  const { content, tool_calls } = fieldsOf(step.output);
  const isOpen = step.output === null;
  return {
    isWriting: step.status === "in_progress",
    text: isOpen ? (live?.output ?? "") : String(content ?? ""),
    reasoning: (isOpen ? live?.reasoning : step.reasoning) ?? "",
    calls: (Array.isArray(tool_calls) ? tool_calls : []) as AskedCalls,
  };
}

/** What a model said, as one message of the conversation, and `children` below it. Nothing where there is neither. */
export function AnswerCard({ step, live, children }: { step: TraceStep; live?: TextPart; children: ReactNode }) {
  const isWhole = useReached() === "all";
  const { isWriting, text, reasoning } = writtenBy(step, live);
  const tokens = step.usage?.output_tokens;
  if (!isWriting && !text && !reasoning && !children) return null;
  return (
    <MessageCard by="assistant" aside={tokens == null ? null : `${formatCount(tokens)} tokens`}>
      {isWhole && reasoning && <Reasoning text={reasoning} />}
      {(text || isWriting) && <StepText text={text} name="output" growing={isWriting} />}
      {!isWhole && !text && <NotYet />}
      {isWhole && children}
    </MessageCard>
  );
}
