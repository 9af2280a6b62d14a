import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { PromptMessage } from "../../../../server/core/model-call.ts";
import type { TextPart } from "../../../../server/wire/fold-frames.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { type Prompt, stepQuery } from "../../entities/run/trace-api.ts";
import { plural } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Note } from "../../ui/note.tsx";
import { AnswerCard, AskedCall, MessageCard, Reasoning, writtenBy } from "./message-card.tsx";
import type { Row } from "./row.ts";
import { LongText } from "./value.tsx";

interface SentMessage {
  id: string;
  role: string;
  content: string;
  tool_calls?: { id: string; name: string; arguments: unknown }[];
}

/** What was new for the model at this call, and what it said; its whole prompt on demand. */
export function MessagesPanel({ row, step, live }: { row: Row; step: TraceStep; live: TextPart | undefined }) {
  const input = fieldsOf(step.input);
  const { calls } = writtenBy(step, live);
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
      <AnswerCard step={step} live={live}>
        {calls.length > 0 && calls.map((call) => <AskedCall key={call.id} name={call.name} args={call.arguments} />)}
      </AnswerCard>
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

/** What a model read: the new messages, or word for word all of it. */
function PromptView({ row, step, children }: { row: Row; step: TraceStep; children: ReactNode }) {
  const [whole, setWhole] = useState(false);
  const at = useWorkspace();
  const read = useQuery({ ...stepQuery(at, row.runId, step, row.before, "prompt"), enabled: whole });
  const prompt = read.data?.prompt;
  return (
    <>
      {whole && prompt ? <WholePrompt prompt={prompt} /> : children}
      {whole && read.error && (
        <ErrorNote title="The prompt cannot be shown" error={read.error} onRetry={() => void read.refetch()} />
      )}
      {whole && read.data && !prompt && (
        <Note tone="info">What this call read word for word is not known: it was taken over from another run.</Note>
      )}
      <Button size="sm" className="self-start" aria-pressed={whole} onClick={() => setWhole(!whole)}>
        {whole && read.isPending ? "Reading the prompt" : whole ? "Show only what was new" : "Show the whole prompt"}
      </Button>
    </>
  );
}

function WholePrompt({ prompt }: { prompt: Prompt }) {
  return (
    <>
      {prompt.messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of a prompt have no ids, and never change.
        <MessageCard key={index} by={message.role} aside={asideOf(message)}>
          <Content message={message} />
        </MessageCard>
      ))}
      {prompt.tools.length > 0 && (
        <details className="rounded-md border border-line">
          <summary className="px-2.5 py-1.5 text-xs text-muted">{plural(prompt.tools.length, "tool")}</summary>
          <div className="border-t border-line-soft px-2.5 py-2">
            <JsonView value={prompt.tools} />
          </div>
        </details>
      )}
      <details className="rounded-md border border-line">
        <summary className="px-2.5 py-1.5 text-xs text-muted">Settings</summary>
        <div className="border-t border-line-soft px-2.5 py-2">
          <JsonView value={prompt.settings} />
        </div>
      </details>
    </>
  );
}

function asideOf(message: PromptMessage): string | null {
  return message.role === "tool" ? `${message.tool}${message.is_error ? ", error" : ""}` : null;
}

function Content({ message }: { message: PromptMessage }) {
  if (message.role === "tool") return <LongText text={message.output} name={message.tool} mono />;
  if (message.role !== "assistant") {
    const images = message.role === "user" ? (message.images ?? []) : [];
    return (
      <>
        <LongText text={message.content} name={message.role} />
        {images.map(({ file_id, mime_type }) => (
          <code key={file_id} className="text-muted">
            {mime_type} {file_id}
          </code>
        ))}
      </>
    );
  }
  return message.parts.map((part, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no ids, and never change.
    if (part.type === "tool_call") return <AskedCall key={index} name={part.name} args={part.arguments} />;
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    if (part.type === "reasoning") return <Reasoning key={index} text={part.text} />;
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    return <LongText key={index} text={part.text} name={part.type} />;
  });
}
