import type { ReactNode } from "react";
import { isOver, type Run } from "../../lib/types.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { WireLine } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import type { Part, RunView, TextPart } from "./fns/fold-run-events.ts";
import { waitLine } from "./fns/run-line.ts";
import { ToolCallCard } from "./tool-call-card.tsx";
import { useFollowEnd } from "./use-follow-end.ts";

/** What went in, what the model wrote and asked for, and what came out, as it grows. */
export function Conversation({ run, view }: { run: Run; view: RunView }) {
  const scroller = useFollowEnd(!isOver(run.status), view);
  const output = run.output ?? view.output;
  const parts = view.parts.filter(
    (part) => part.kind === "tool" || part.output || part.reasoning || part.state === "writing",
  );
  const last = parts.at(-1);
  const isOutput = (part: Part) =>
    part === last && part.kind === "text" && run.status === "completed" && part.output === output;
  const outputShown = !isOver(run.status) || !output || (last !== undefined && isOutput(last)) || partial(last, output);
  return (
    <section
      ref={scroller}
      aria-label="Output"
      className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 focus-visible:shadow-none rail:p-5"
    >
      <Outcome run={run} />
      <Block title="Input" copy={run.input}>
        <Prose text={run.input} />
      </Block>
      {parts.map((part) =>
        part.kind === "tool" ? (
          <ToolCallCard key={part.key} part={part} />
        ) : (
          <TextBlock key={part.key} part={part} isOutput={isOutput(part)} />
        ),
      )}
      {!outputShown && output && (
        <Block title="Output" copy={output}>
          <Prose text={output} />
        </Block>
      )}
    </section>
  );
}

/** The answer first: why it failed, or what it waits for. */
function Outcome({ run }: { run: Run }) {
  if (run.status === "failed" && run.error)
    return (
      <Note tone="bad">
        <b>{run.error.message}</b>
        <p className="text-muted">
          {run.error.step_index != null && `In step ${run.error.step_index}. `}
          {run.error.retryable ? "The same run may succeed at another time." : "The same run would fail again."}
        </p>
        <WireLine code={run.error.code} requestId={run.request_id} />
      </Note>
    );
  if (run.status === "cancelled") return <Note tone="info">{run.error?.message || "This run was cancelled."}</Note>;
  if (run.status === "queued")
    return <Note tone="info">Queued: it begins when a run in progress has ended and those before it have begun.</Note>;
  if (run.status !== "requires_action") return null;
  const calls = run.required_action?.submit_tool_outputs.tool_calls ?? [];
  const address = `POST /v1/runs/${run.id}/submit_tool_outputs`;
  return (
    <Note tone="ask">
      <b>{waitLine(calls)}</b>
      <p className="text-muted">The run goes on when the answer arrives at:</p>
      <div className="flex items-center gap-1">
        <code className="wrap-anywhere">{address}</code>
        <CopyButton text={address} what="address" />
      </div>
    </Note>
  );
}

function TextBlock({ part, isOutput }: { part: TextPart; isOutput: boolean }) {
  const isVoid = part.state === "void";
  return (
    <Block
      title={isOutput ? "Output" : isVoid ? "Discarded: the call was made again" : "Model"}
      copy={isVoid ? undefined : part.output}
    >
      {part.reasoning && (
        <details className="mb-2 text-muted">
          <summary className="text-xs">Reasoning</summary>
          <Prose text={part.reasoning} />
        </details>
      )}
      <Prose text={part.output} faint={isVoid} growing={part.state === "writing"} />
    </Block>
  );
}

function Block({ title, copy, children }: { title: string; copy?: string; children: ReactNode }) {
  return (
    <div>
      <div className="flex h-7 items-center justify-between gap-2">
        <h2 className="text-xs text-muted">{title}</h2>
        {copy && <CopyButton text={copy} what={title.toLowerCase()} />}
      </div>
      {children}
    </div>
  );
}

function Prose({ text, faint = false, growing = false }: { text: string; faint?: boolean; growing?: boolean }) {
  const tone = faint ? "text-faint line-through" : "";
  return (
    <div className={`max-w-(--read) text-md wrap-anywhere whitespace-pre-wrap ${tone} ${growing ? "caret" : ""}`}>
      {text}
    </div>
  );
}

/** True when the run's output is the text that was cut short above it. */
function partial(last: Part | undefined, output: string): boolean {
  return last?.kind === "text" && last.output === output;
}
