import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, useEffect, useRef, useState } from "react";
import { type Part, type TextPart, withoutHandoffCalls } from "../../../../server/domain/api-types/run-view.ts";
import { countedUsage } from "../../../../server/domain/counted-usage.ts";
import type { RunError } from "../../../../server/domain/run-event.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { ShownMedia } from "../../entities/file/shown-media.tsx";
import { HandoffLine, InterruptedNote } from "../../entities/run/conversation-notes.tsx";
import { RunTime } from "../../entities/run/run-time.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import type { ToolAnswer } from "../../entities/tool-call/answer-call.ts";
import { ConsentCards } from "../../entities/tool-call/consent-card.tsx";
import { findCall } from "../../entities/tool-call/next-call.ts";
import { OpenCall } from "../../entities/tool-call/open-call.tsx";
import { useNow } from "../../hooks/use-now.ts";
import { formatCost, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Markdown } from "../../ui/data/markdown.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { LiveDot, LostBadge } from "../../ui/data/stream-badge.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote, WireLine } from "../../ui/feedback/error-note.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { CallCard } from "./call-card.tsx";
import { isOpen, type Turn } from "./turn.ts";
import { useCachedRun } from "./use-lane.ts";

const SentDialog = lazy(() => import("./sent-dialog.tsx").then((it) => ({ default: it.SentDialog })));

interface TurnProps {
  turn: Turn;
  /** True if two are shown side by side. */
  narrow: boolean;
  readOnly: boolean;
  onAnswered: (answer: ToolAnswer) => void;
  /** Sends the input again. Absent while a run is in progress. */
  onAgain?: () => void;
}

/** One input with its run's output, calls and pending calls. */
export function TurnView({ turn, narrow, readOnly, onAnswered, onAgain }: TurnProps) {
  const { view, runId } = turn;
  const action = useCachedRun(runId)?.required_action;
  const consents = action?.authorizations?.flatMap(({ tool_calls }) => tool_calls) ?? [];
  const pendingCallIds = [...(action?.submit_tool_outputs.tool_calls ?? []), ...consents].map(
    (call) => call.tool_call_id,
  );
  // Pending calls are shown below, with their answer forms.
  const parts = withoutHandoffCalls(view.parts);
  const visibleParts = readOnly ? parts : parts.filter(({ key }) => !pendingCallIds.includes(key));
  return (
    <article aria-label="Run" className="flex min-w-0 flex-col gap-4">
      <div className="flex max-w-9/10 flex-col gap-2 self-end rounded-xl rounded-br-sm bg-active px-3.5 py-2">
        {turn.input && <p className="text-md wrap-anywhere whitespace-pre-wrap">{turn.input}</p>}
        <ShownMedia {...turn.shown} />
      </div>
      {visibleParts.map((part) => (
        <PartView key={part.key} part={part} narrow={narrow} />
      ))}
      {runId && view.status === "requires_action" && (
        <OpenCalls runId={runId} readOnly={readOnly} onAnswered={onAnswered} />
      )}
      <ErrorNote title="The run was not started" error={turn.error} onRetry={onAgain} />
      {view.status === "failed" && view.error && <RunFailed error={view.error} onAgain={onAgain} />}
      <LostBadge stream={isOpen(turn) ? turn.stream : "ended"} after={turn.lastId} />
      {!turn.error && <Meta turn={turn} />}
      <Announcer turn={turn} />
    </article>
  );
}

function PartView({ part, narrow }: { part: Part; narrow: boolean }) {
  if (part.kind === "tool") return <CallCard part={part} narrow={narrow} />;
  if (part.kind === "message")
    return (
      <p className="max-w-9/10 self-end rounded-xl rounded-br-sm bg-active px-3.5 py-2 text-md wrap-anywhere whitespace-pre-wrap">
        {part.content}
      </p>
    );
  if (part.kind === "handoff") return <HandoffLine part={part} />;
  if (part.state === "void")
    return <p className="text-xs text-muted">The connection was lost. The model starts this response again.</p>;
  if (!part.output && !part.reasoning) return part.state === "writing" ? <Thinking part={part} /> : null;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {part.reasoning && <Reasoning part={part} />}
      {part.output && <Markdown text={part.output} growing={part.state === "writing" && !part.isInterrupted} />}
      {part.isInterrupted && <InterruptedNote />}
    </div>
  );
}

/** A model's reasoning: open until the answer starts. */
function Reasoning({ part }: { part: TextPart }) {
  const isThinking = part.state === "writing" && part.output === "";
  return (
    <details open={isThinking || undefined} className="text-muted">
      <summary className="w-fit rounded-sm text-xs">Reasoning</summary>
      <div className="mt-1 border-l-2 border-line pl-3">
        <Markdown text={part.reasoning} growing={isThinking} />
      </div>
    </details>
  );
}

function Thinking({ part }: { part: TextPart }) {
  return <p key={part.key} className="caret text-md" />;
}

function RunFailed({ error, onAgain }: { error: RunError; onAgain?: () => void }) {
  return (
    <Callout tone="bad">
      <b>The run failed</b>
      <p>{error.message}</p>
      <WireLine code={error.code} />
      {onAgain && (
        <Button size="sm" className="mt-2" onClick={onAgain}>
          Try again
        </Button>
      )}
    </Callout>
  );
}

/** Duration, tokens and cost, with a link to the trace. */
function Meta({ turn }: { turn: Turn }) {
  const { view, runId } = turn;
  const [isRequestShown, setIsRequestShown] = useState(false);
  const run = useCachedRun(runId);
  const usage = view.status && countedUsage({ status: view.status, usage: view.usage ?? run?.usage });
  const isWriting = view.parts.at(-1)?.kind === "text" && view.status === "in_progress";
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted tabular-nums">
      {turn.stream === "lost" && isOpen(turn) ? null : view.status === "in_progress" || view.status === null ? (
        <span className="inline-flex items-center gap-1 font-medium">
          <LiveDot />
          {view.status === null ? "Starting" : isWriting ? "Writing" : "Running"}
        </span>
      ) : (
        <StatusPill status={view.status} />
      )}
      {run?.agent_label && (
        <span className="wrap-anywhere">
          {run.agent_label}, version {run.agent_version}
        </span>
      )}
      <Took turn={turn} />
      {usage && <span>{formatCount(usage.total_tokens)} tokens</span>}
      {usage && <span>{formatCost(usage.cost_usd, usage.cost_estimated)}</span>}
      {runId && (
        <span className="ml-auto inline-flex gap-3">
          <button type="button" className="text-accent hover:underline" onClick={() => setIsRequestShown(true)}>
            What the model was sent
          </button>
          <Link to="/runs/$runId" params={{ runId }} className="text-accent hover:underline">
            Open trace
          </Link>
        </span>
      )}
      {runId && isRequestShown && (
        <LazyBoundary>
          <SentDialog runId={runId} onClose={() => setIsRequestShown(false)} />
        </LazyBoundary>
      )}
    </p>
  );
}

/** Duration of the run; while it streams for the first time, the elapsed time. */
function Took({ turn: { view, runId } }: { turn: Turn }) {
  const run = useCachedRun(runId);
  const first = view.entries[0]?.data.at;
  const last = view.entries.at(-1)?.data.at;
  const isDone = view.status !== null && isOver(view.status);
  const now = useNow(!isDone);
  if (run && run.status === view.status && run.status !== "in_progress") return <RunTime run={run} />;
  if (!first || !last) return null;
  return (
    <span>
      {isDone ? formatDuration(Date.parse(last) - Date.parse(first)) : formatElapsed(now - Date.parse(first))}
    </span>
  );
}

/** Announces the status in a polite live region; the streaming text itself is silent. */
function Announcer({ turn: { view, error, body } }: { turn: Turn }) {
  const words: Record<string, string> = {
    in_progress: "Writing",
    requires_action: "Waiting for a response",
    paused: "Paused",
    completed: "Completed",
    failed: "Failed",
    cancelled: "Stopped",
    queued: "Queued",
  };
  // Do not announce runs loaded from the thread.
  return (
    <span role="status" className="sr-only">
      {body && !error && view.status ? words[view.status] : ""}
    </span>
  );
}

/** A run's pending calls in order. The first is focused if nothing else is. */
function OpenCalls({
  runId,
  readOnly,
  onAnswered,
}: {
  runId: string;
  readOnly: boolean;
  onAnswered: (answer: ToolAnswer) => void;
}) {
  const at = useWorkspace();
  const run = useCachedRun(runId);
  const tools = useQuery(toolApi.every(at));
  const list = useRef<HTMLDivElement>(null);
  const calls = run?.required_action?.submit_tool_outputs.tool_calls ?? [];
  const first = !tools.isPending && calls[0] ? `${calls[0].tool_call_id} ${calls[0].needs}` : null;
  useEffect(() => {
    if (first && list.current && document.activeElement === document.body) findCall(list.current)?.focus();
  }, [first]);

  const consents = run?.required_action?.authorizations;
  if (readOnly)
    return (
      (calls.length > 0 || consents) && <Callout tone="ask">Waiting for someone with permission to answer.</Callout>
    );
  if (tools.isPending) return null;
  return (
    <div ref={list} className="flex min-w-0 flex-col gap-3">
      {calls.map((call) => (
        <OpenCall key={`${call.tool_call_id} ${call.needs}`} runId={runId} call={call} onAnswered={onAnswered} />
      ))}
      <ConsentCards authorizations={consents} />
    </div>
  );
}
