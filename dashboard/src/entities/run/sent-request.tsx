import { useQuery } from "@tanstack/react-query";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { PromptMessage } from "../../../../server/domain/model-call.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { JsonView } from "../../ui/data/json-view.tsx";
import { Block, LongText, Value } from "../../ui/data/value.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { ShownMedia } from "../file/shown-media.tsx";
import { AskedCall, MessageCard, Reasoning } from "./message-card.tsx";
import { type Prompt, stepQuery } from "./trace-api.ts";

interface SentRequestProps {
  runId: string;
  /** A model call. */
  step: TraceStep;
  /** Id of the step before it. */
  before: string | null;
}

/** Exact request of a model call: messages, tools and settings. */
export function SentRequest({ runId, step, before }: SentRequestProps) {
  const promptResult = useQuery(stepQuery(useWorkspace(), runId, step, before, "prompt"));
  if (promptResult.error)
    return (
      <ErrorNote
        title="The request cannot be shown"
        error={promptResult.error}
        onRetry={() => void promptResult.refetch()}
      />
    );
  if (promptResult.isPending) return <Skeleton className="w-1/2" />;
  const prompt = promptResult.data?.prompt;
  if (!prompt)
    return <Callout tone="info">The exact request is not known: this call was copied from another run.</Callout>;
  return <Sent prompt={prompt} model={step.model} />;
}

function Sent({ prompt, model }: { prompt: Prompt; model: string | null }) {
  const { messages, tools, settings, output_schema } = prompt;
  const requestJson = JSON.stringify({ model, ...prompt }, null, 2);
  return (
    <>
      <div className="flex min-h-7 items-center justify-between gap-2 text-xs text-muted">
        <p>
          {plural(messages.length, "message")} and {plural(tools.length, "tool")} to <b>{model}</b>. Verified by the
          hash recorded when it was sent.
        </p>
        <CopyButton text={requestJson} what="request" />
      </div>
      <Block title="Messages">
        <div className="flex flex-col gap-3">
          {messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages of a prompt have no ids, and never change.
            <MessageCard key={index} by={message.role} aside={asideOf(message)}>
              <Content message={message} />
            </MessageCard>
          ))}
        </div>
      </Block>
      {tools.length > 0 && (
        <Block title="Tools" copy={JSON.stringify(tools, null, 2)}>
          <div className="flex flex-col divide-y divide-line-soft rounded-md border border-line">
            {tools.map(({ name, description, parameters }) => (
              <details key={name}>
                <summary className="px-2.5 py-1.5 text-xs wrap-anywhere">
                  <b>{name}</b> <span className="text-muted">{description}</span>
                </summary>
                <div className="border-t border-line-soft px-2.5 py-2">
                  <JsonView value={parameters} />
                </div>
              </details>
            ))}
          </div>
        </Block>
      )}
      {output_schema && <Value title="Response format" name="response format" value={output_schema} />}
      <Value title="Settings" name="settings" value={settings} />
    </>
  );
}

function asideOf(message: PromptMessage): string | null {
  return message.role === "tool" ? `${message.tool}${message.is_error ? ", error" : ""}` : null;
}

function Content({ message }: { message: PromptMessage }) {
  if (message.role === "tool")
    return (
      <>
        <LongText text={message.output} name={message.tool} mono />
        <ShownMedia images={message.images} />
      </>
    );
  if (message.role !== "assistant")
    return (
      <>
        <LongText text={message.content} name={message.role} />
        {message.role === "user" && (
          <ShownMedia images={message.images} audio={message.audio} files={message.documents} />
        )}
      </>
    );
  return message.parts.map((part, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no ids, and never change.
    if (part.type === "tool_call") return <AskedCall key={index} name={part.name} args={part.arguments} />;
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    if (part.type === "reasoning") return <Reasoning key={index} text={part.text} />;
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    return part.text && <LongText key={index} text={part.text} name={part.type} />;
  });
}
