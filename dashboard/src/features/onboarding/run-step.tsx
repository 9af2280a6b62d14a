import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, useCallback, useEffect, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { emptyRunView, foldFrames, type ToolPart } from "../../../../server/domain/api-types/run-view.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { followRun } from "../../entities/run/follow-run.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { useAnswerCall } from "../../entities/tool-call/answer-call.ts";
import { ApiError } from "../../lib/api.ts";
import type { Frame, StreamState } from "../../lib/events.ts";
import { formatDuration } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Markdown } from "../../ui/data/markdown.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { LostBadge } from "../../ui/data/stream-badge.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { type CreatedKey, guideInput, guideOutput, guideTool, startRun } from "./first-run-api.ts";
import { Code } from "./key-step.tsx";
import { Pane } from "./pane.tsx";

/** The step that runs the agent and shows its stream live. */
export function RunStep({
  agentId,
  apiKey,
  onMakeAgent,
  onCompleted,
}: {
  agentId: string | undefined;
  /** The key created in this guide. The run is its first request. */
  apiKey: CreatedKey | null;
  onMakeAgent: () => void;
  onCompleted: () => void;
}) {
  const agents = useQuery(newestAgentsQuery(useWorkspace()));
  const [input, setInput] = useState(guideInput);
  const { run, frames, view, stream, error, isStarting, start } = useFirstRun(apiKey?.secret);
  useEffect(() => {
    if (view.status === "completed") onCompleted();
  }, [view.status, onCompleted]);
  const selectedAgentId = agentId ?? agents.data?.data[0]?.id;
  if (!selectedAgentId && agents.isPending) return null;
  if (!selectedAgentId) return <NoAgent onMakeAgent={onMakeAgent} />;

  const isRunning = isStarting || (run !== null && !(view.status && isOver(view.status)));
  const text = view.parts.map((part) => (part.kind === "text" && part.state !== "void" ? part.output : "")).join("");
  const waiting = view.parts.find((part): part is ToolPart => part.kind === "tool" && part.state === "waiting");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isRunning && input.trim()) void start(selectedAgentId, input);
  };
  return (
    <Pane
      title="Your first run"
      aside={
        <>
          <LostBadge stream={isRunning ? stream : "ended"} after={frames.findLast(({ id }) => id)?.id ?? ""} />
          {view.status && !(isRunning && stream === "lost") && <StatusPill status={view.status} />}
        </>
      }
      go={
        <>
          <Link
            to="/playground"
            search={{ agent: selectedAgentId }}
            className={buttonClass({ kind: view.status === "completed" ? "primary" : "plain" })}
          >
            Continue in the playground
          </Link>
          {run && (
            <Link to="/runs/$runId" params={{ runId: run.id }} className={buttonClass()}>
              Open trace
            </Link>
          )}
          <Link to="/overview" className={buttonClass({ kind: "ghost" })}>
            {run ? "Go to the overview" : "Skip"}
          </Link>
        </>
      }
    >
      <form onSubmit={submit} className="flex gap-2">
        <input
          aria-label="Input"
          value={input}
          onChange={(event) => setInput(event.target.value)}
          className="h-(--control) min-w-0 flex-1 rounded-md border border-line-control bg-surface px-2.5 hover:border-muted"
        />
        <Button type="submit" kind={view.status === "completed" ? "plain" : "primary"} disabled={isRunning}>
          <Play aria-hidden className="size-4" strokeWidth={1.5} />
          {run ? "Run again" : "Run"}
        </Button>
      </form>
      {apiKey && (
        <p className="text-xs text-muted">
          This request is sent with your key “{apiKey.name}”, as your server would send it.
        </p>
      )}
      <ErrorNote title="The run was not started" error={error} />
      {view.error && (
        <Callout tone="bad" role="alert">
          <b>The run failed</b>
          <p>{view.error.message}</p>
        </Callout>
      )}
      <section aria-label="Output" className="min-h-16 rounded-md border border-line px-3.5 py-3 text-md wrap-anywhere">
        {text ? (
          <Markdown text={text} growing={isRunning} />
        ) : (
          <span className="text-muted">{run ? "No output yet." : "The output appears here."}</span>
        )}
      </section>
      <p role="status" className="sr-only">
        {view.status === "completed" && "Completed."}
        {waiting && `${waiting.tool} waits for its output.`}
      </p>
      {run && waiting && <AnswerCall key={waiting.id} runId={run.id} call={waiting} />}
      {frames.length > 0 && <StreamedEvents frames={frames} />}
      <Code
        name="run"
        request={{
          method: "POST",
          path: "/v1/runs",
          body: { agent_id: selectedAgentId, input, stream: true },
          stream: true,
        }}
      />
    </Pane>
  );
}

function NoAgent({ onMakeAgent }: { onMakeAgent: () => void }) {
  return (
    <Pane
      title="Your first run"
      go={
        <>
          <Button kind="primary" onClick={onMakeAgent}>
            Create an agent
          </Button>
          <Link to="/overview" className={buttonClass({ kind: "ghost" })}>
            Skip
          </Link>
        </>
      }
    >
      <p className="text-md text-muted">A run needs an agent, and this project has none in test data yet.</p>
    </Pane>
  );
}

/** A button that sends the tool output in place of the person's own code. */
function AnswerCall({ runId, call }: { runId: string; call: ToolPart }) {
  const answer = useAnswerCall(runId);
  const output = call.tool === guideTool.name ? guideOutput : { done: true };
  return (
    <Callout tone="ask">
      <b>{call.tool} is your code</b>
      <p>
        The run waits for it, at no cost. Here you respond in its place:{" "}
        <code className="wrap-anywhere">{JSON.stringify(output)}</code>
      </p>
      <ErrorNote title="The output was not sent" error={answer.error} />
      <Button
        size="sm"
        kind="primary"
        className="mt-2"
        disabled={answer.isPending || answer.isSuccess}
        onClick={() => answer.mutate({ tool_call_id: call.id, output })}
      >
        Send output
      </Button>
    </Callout>
  );
}

function StreamedEvents({ frames }: { frames: readonly Frame[] }) {
  return (
    <section aria-label="Streamed events">
      <h3 className="pb-1 font-medium">Streamed events</h3>
      <ol>
        {streamLines(frames).map(({ key, ms, event, step, detail }) => (
          <li key={key} className="flex items-center gap-2.5 py-0.5 text-xs">
            <span className="w-16 shrink-0 text-right text-muted tabular-nums">{formatDuration(ms)}</span>
            <StepIcon type={step} />
            <b>{event}</b>
            <code className="cut text-muted">{detail}</code>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Starts a run and follows its stream. Reconnects after a lost connection. */
function useFirstRun(secret: string | undefined) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [run, setRun] = useState<Run | null>(null);
  const [frames, setFrames] = useState<Frame[]>([]);
  const [view, setView] = useState(emptyRunView);
  const [stream, setStream] = useState<StreamState>("connecting");
  const [error, setError] = useState<Error | null>(null);
  const [isStarting, setIsStarting] = useState(false);
  const lastAttempt = useRef<{ agentId: string; input: string; key: string } | null>(null);

  useEffect(() => {
    if (!run) return;
    return followRun(at, run.id, {
      onFrames: (news) => {
        setFrames((before) => [...before, ...news]);
        setView((before) => foldFrames(before, news));
      },
      onState: setStream,
      onRefused: () => void client.invalidateQueries(sessionQuery),
    });
  }, [at, client, run]);

  const start = useCallback(
    async (agentId: string, input: string) => {
      setIsStarting(true);
      setError(null);
      const last = lastAttempt.current;
      const isSame = last?.agentId === agentId && last.input === input;
      const key = isSame ? last.key : crypto.randomUUID();
      try {
        const started = await startRun(at, { agentId, input, key, secret });
        setFrames([]);
        setView(emptyRunView);
        setStream("connecting");
        setRun(started);
        lastAttempt.current = null;
      } catch (cause) {
        // Without a response, the run may have started, so a retry reuses its key. After an error response, it has not.
        const isUnanswered = cause instanceof ApiError && cause.code === "unreachable";
        lastAttempt.current = isUnanswered ? { agentId, input, key } : null;
        setError(cause instanceof Error ? cause : new Error(String(cause)));
      } finally {
        setIsStarting(false);
      }
    },
    [at, secret],
  );
  return { run, frames, view, stream, error, isStarting, start };
}

/** One line of the event list. Consecutive tokens share a line. */
interface StreamLine {
  key: string;
  /** Milliseconds since the first event. */
  ms: number;
  event: string;
  /** The step type, which selects the icon. */
  step: string;
  detail: string;
}

/** Returns the events as lines, in the order of arrival. */
export function streamLines(frames: readonly Frame[]): StreamLine[] {
  const lines: (StreamLine & { tokens: number })[] = [];
  const start = Date.parse(frames[0]?.data.at ?? "");
  for (const { event, data } of frames) {
    const last = lines.at(-1);
    if (event === "token" && last?.event === "token") {
      last.detail = `× ${++last.tokens}`;
      continue;
    }
    const ms = Math.max(0, Date.parse(data.at) - start);
    const detail = event === "token" ? "× 1" : detailOf(data);
    lines.push({ key: `${event} ${data.seq}`, ms, event, step: stepOf(event, data), detail, tokens: 1 });
  }
  return lines;
}

function detailOf({ tool, name, type }: Record<string, unknown>): string {
  return [tool, name, type].find((each) => typeof each === "string") ?? "";
}

function stepOf(event: string, { type }: Record<string, unknown>): string {
  if (event === "token") return "model_call";
  if (event.startsWith("tool.")) return "tool_call";
  return event.startsWith("step.") && typeof type === "string" ? type : "run";
}
