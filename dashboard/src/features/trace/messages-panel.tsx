import type { TextPart } from "../../../../server/wire/fold-frames.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { LongText } from "./long-text.tsx";
import { AskedCall, MessageCard, Reasoning } from "./message-card.tsx";
import { NotYet } from "./not-yet.tsx";
import { PromptView } from "./prompt-view.tsx";
import type { Row } from "./rows.ts";
import { StepText } from "./step-text.tsx";
import { fieldsOf } from "./step-words.ts";
import { useReached } from "./use-reached.ts";

interface SentMessage {
  id: string;
  role: string;
  content: string;
  tool_calls?: { id: string; name: string; arguments: unknown }[];
}

/** What was new for the model at this call, and what it said; its whole prompt on demand. */
export function MessagesPanel({ row, step, live }: { row: Row; step: TraceStep; live: TextPart | undefined }) {
  const input = fieldsOf(step.input);
  const messages = (Array.isArray(input.messages) ? input.messages : []) as SentMessage[];
  return (
    <>
      <PromptView row={row} step={step}>
        <Earlier input={input} />
        {messages.map((message) => (
          <MessageCard key={message.id} by={message.role}>
            {message.content && <LongText text={message.content} name={message.role} mono={message.role === "tool"} />}
            {message.tool_calls?.map((call) => (
              <AskedCall key={call.id} name={call.name} args={call.arguments} />
            ))}
          </MessageCard>
        ))}
      </PromptView>
      <Answer step={step} live={live} />
    </>
  );
}

/** What stands before the new messages, in numbers. */
function Earlier({ input }: { input: Record<string, unknown> }) {
  const parts = [
    ["history_messages", "message", "of the thread’s history"],
    ["documents", "attached document", ""],
    ["passages", "passage", "of memory"],
    ["earlier_messages", "earlier message", "of this run"],
    ["left_out", "message", "left out"],
  ].flatMap(([key, noun, words]) => {
    const count = input[key!];
    return typeof count === "number" && count > 0 ? [`${plural(count, noun!)} ${words}`.trim()] : [];
  });
  if (parts.length === 0) return null;
  return <p className="text-xs text-muted">Before these: {parts.join(", ")}.</p>;
}

/** What the model said: while it writes, as far as it got. */
function Answer({ step, live }: { step: TraceStep; live: TextPart | undefined }) {
  const isWhole = useReached() === "all";
  const output = fieldsOf(step.output);
  const isWriting = step.status === "in_progress";
  const text = step.output === null ? (live?.output ?? "") : String(output.content ?? "");
  const reasoning = step.output === null ? (live?.reasoning ?? "") : (step.reasoning ?? "");
  const calls = (Array.isArray(output.tool_calls) ? output.tool_calls : []) as SentMessage["tool_calls"];
  if (!isWriting && !text && !reasoning && !calls?.length) return null;
  const tokens = step.usage?.output_tokens;
  return (
    <MessageCard by="assistant" aside={tokens == null ? null : `${formatCount(tokens)} tokens`}>
      {isWhole && reasoning && (
        <Reasoning>
          <LongText text={reasoning} name="reasoning" />
        </Reasoning>
      )}
      {(text || isWriting) && <StepText text={text} name="output" growing={isWriting} />}
      {!isWhole && !text && <NotYet />}
      {isWhole && calls?.map((call) => <AskedCall key={call.id} name={call.name} args={call.arguments} />)}
    </MessageCard>
  );
}
