import type { TextPart } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { type ShownLists, ShownMedia } from "../../entities/file/shown-media.tsx";
import { AskedCall, MessageCard } from "../../entities/run/message-card.tsx";
import { plural } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { LongText } from "../../ui/data/value.tsx";
import { AnswerCard, modelOutput } from "./answer-card.tsx";
import { ProviderWork } from "./provider-work.tsx";
import { sentDuringRun } from "./steered-messages.tsx";

interface SentMessage extends ShownLists {
  id: string;
  role: string;
  content: string;
  /** It came while the run was under way. */
  steered?: true;
  /** A message of the user ended it. */
  interrupted?: true;
  tool_calls?: { id: string; name: string; arguments: unknown }[];
}

/** Messages new to the model in this call, and its answer. */
export function MessagesPanel({
  step,
  agent,
  live,
}: {
  step: TraceStep;
  agent: string | undefined;
  live: TextPart | undefined;
}) {
  const input = fieldsOf(step.input);
  const { calls } = modelOutput(step, live);
  const messages = (Array.isArray(input.messages) ? input.messages : []) as SentMessage[];
  return (
    <>
      <Earlier input={input} />
      {messages.map((message) => (
        <MessageCard key={message.id} by={message.role} aside={asideOf(message)}>
          {message.content && <LongText text={message.content} name={message.role} mono={message.role === "tool"} />}
          <ShownMedia {...message} />
          {message.tool_calls?.map((call) => (
            <AskedCall key={call.id} name={call.name} args={call.arguments} />
          ))}
        </MessageCard>
      ))}
      <AnswerCard step={step} agent={agent} live={live}>
        {calls.length > 0 && calls.map((call) => <AskedCall key={call.id} name={call.name} args={call.arguments} />)}
        <ProviderWork step={step} />
      </AnswerCard>
    </>
  );
}

function asideOf({ steered, interrupted }: SentMessage): string | null {
  if (steered) return sentDuringRun;
  return interrupted ? "Interrupted" : null;
}

/** Counts of the messages before the new ones. */
function Earlier({ input }: { input: Record<string, unknown> }) {
  const parts = [
    ["history_messages", "message", "of the thread's history"],
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
