import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, useEffect, useRef, useState } from "react";
import { countedUsage } from "../../../../server/core/counted-usage.ts";
import type { RunError } from "../../../../server/core/run-event.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import type { Part, TextPart } from "../../../../server/wire/fold-frames.ts";
import type { ToolAnswer } from "../../entities/call/answer-call.ts";
import { findCall } from "../../entities/call/next-call.ts";
import { OpenCall } from "../../entities/call/open-call.tsx";
import { RunTime } from "../../entities/run/run-time.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { formatCost, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote, WireLine } from "../../ui/error-note.tsx";
import { LoadedPart } from "../../ui/loaded-part.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Note } from "../../ui/note.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { LiveDot, LostBadge } from "../../ui/stream-badge.tsx";
import { CallCard } from "./call-card.tsx";
import { isOpen, type Turn } from "./turn.ts";
import { useHeldRun } from "./use-lane.ts";

const SentDialog = lazy(() => import("./sent-dialog.tsx").then((it) => ({ default: it.SentDialog })));

interface TurnProps {
  turn: Turn;
  /** Of two side by side. */
  narrow: boolean;
  readOnly: boolean;
  onAnswered: (answer: ToolAnswer) => void;
  /** Tries the input once more. Absent while something else goes on. */
  onAgain?: () => void;
}

/** One input and all that its run said, did and waits for. */
export function TurnView({ turn, narrow, readOnly, onAnswered, onAgain }: TurnProps) {
  const { view, runId } = turn;
  const asked = useHeldRun(runId)?.required_action?.submit_tool_outputs.tool_calls.map(({ id }) => id) ?? [];
  // What is asked stands below, with what is to be answered.
  const told = readOnly ? view.parts : view.parts.filter(({ key }) => !asked.includes(key));
  return (
    <article aria-label="Run" className="flex min-w-0 flex-col gap-4">
      <p className="max-w-9/10 self-end rounded-xl rounded-br-sm bg-active px-3.5 py-2 text-md wrap-anywhere whitespace-pre-wrap">
        {turn.input}
      </p>
      {told.map((part) => (
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
  if (part.state === "void")
    return <p className="text-xs text-muted">The connection was lost. The model starts this response again.</p>;
  if (!part.output && !part.reasoning) return part.state === "writing" ? <Thinking part={part} /> : null;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {part.reasoning && <Reasoning part={part} />}
      {part.output && <Markdown text={part.output} growing={part.state === "writing"} />}
    </div>
  );
}

/** What a model thought before it answered: open while it is all there is. */
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
    <Note tone="bad">
      <b>The run failed</b>
      <p>{error.message}</p>
      <WireLine code={error.code} />
      {onAgain && (
        <Button size="sm" className="mt-2" onClick={onAgain}>
          Try again
        </Button>
      )}
    </Note>
  );
}

/** What it took, and the way to its trace. */
function Meta({ turn }: { turn: Turn }) {
  const { view, runId } = turn;
  const [sent, setSent] = useState(false);
  const run = useHeldRun(runId);
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
      <Took turn={turn} />
      {usage && <span>{formatCount(usage.total_tokens)} tokens</span>}
      {usage && <span>{formatCost(usage.cost_usd)}</span>}
      {runId && (
        <span className="ml-auto inline-flex gap-3">
          <button type="button" className="text-accent hover:underline" onClick={() => setSent(true)}>
            What the model was sent
          </button>
          <Link to="/runs/$runId" params={{ runId }} className="text-accent hover:underline">
            Open trace
          </Link>
        </span>
      )}
      {runId && sent && (
        <LoadedPart>
          <SentDialog runId={runId} onClose={() => setSent(false)} />
        </LoadedPart>
      )}
    </p>
  );
}

/** What its run worked, as everywhere; while it is read for the first time, how long it has been going on. */
function Took({ turn: { view, runId } }: { turn: Turn }) {
  const run = useHeldRun(runId);
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

/** The streaming text itself is silent: one polite line says how it goes. */
function Announcer({ turn: { view, error, body } }: { turn: Turn }) {
  const words: Record<string, string> = {
    in_progress: "Writing",
    requires_action: "Waiting for a response",
    completed: "Completed",
    failed: "Failed",
    cancelled: "Stopped",
    queued: "Queued",
  };
  // What was read from its thread is no news.
  return (
    <span role="status" className="sr-only">
      {body && !error && view.status ? words[view.status] : ""}
    </span>
  );
}

/** The calls of a run that wait for a person, in order. The first has the focus where nothing else has it. */
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
  const run = useHeldRun(runId);
  const tools = useQuery(toolApi.every(at));
  const list = useRef<HTMLDivElement>(null);
  const calls = run?.required_action?.submit_tool_outputs.tool_calls ?? [];
  const first = !tools.isPending && calls[0] ? `${calls[0].id} ${calls[0].needs}` : null;
  useEffect(() => {
    if (first && list.current && document.activeElement === document.body) findCall(list.current)?.focus();
  }, [first]);

  if (readOnly) return calls.length > 0 && <Note tone="ask">Waiting for someone with permission to answer.</Note>;
  if (tools.isPending) return null;
  return (
    <div ref={list} className="flex min-w-0 flex-col gap-3">
      {calls.map((call) => (
        <OpenCall key={`${call.id} ${call.needs}`} runId={runId} call={call} onAnswered={onAnswered} />
      ))}
    </div>
  );
}
