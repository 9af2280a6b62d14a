import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { emptyRunView, foldFrames, type Part, type RunView } from "../../../../server/domain/api-types/run-view.ts";
import { wholeText } from "../../../../server/domain/run-input.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { shownInput } from "../../entities/file/shown-input.ts";
import { type ShownLists, ShownMedia } from "../../entities/file/shown-media.tsx";
import { HandoffLine, InterruptedNote } from "../../entities/run/conversation-notes.tsx";
import { followRun } from "../../entities/run/follow-run.ts";
import { openRunQuery } from "../../entities/thread/thread-api.ts";
import { ConsentCards } from "../../entities/tool-call/consent-card.tsx";
import { OpenCall } from "../../entities/tool-call/open-call.tsx";
import { useWorkspace } from "../../lib/workspace.ts";
import { JsonView } from "../../ui/data/json-view.tsx";
import { Markdown } from "../../ui/data/markdown.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import type { Item, RunPart } from "./conversation.ts";

/** Messages of one run in the thread. */
export function RunPartView({ part, run }: { part: RunPart; run: Run | undefined }) {
  return (
    <article className="flex min-w-0 flex-col gap-3">
      {part.runId === null ? (
        <p className="text-xs text-muted">
          Added by the API · <Time at={part.at} />
        </p>
      ) : (
        <RunLine runId={part.runId} run={run} at={part.at} />
      )}
      {part.items.map((item) => (
        <ItemView key={item.key} item={item} agentId={run?.agent_id} />
      ))}
      {run?.status === "failed" && run.error && (
        <p className="text-xs text-bad wrap-anywhere">
          {run.error.code}: {run.error.message}
        </p>
      )}
    </article>
  );
}

/** `agentId` is the run's own agent. */
function ItemView({ item, agentId }: { item: Item; agentId: string | undefined }) {
  if (item.kind === "handoff") return <NewAgent id={item.agentId ?? agentId ?? ""} reason={item.reason} />;
  if (item.kind === "call") return <CallView call={item} />;
  if (item.by === "assistant")
    return (
      <div className="min-w-0">
        <span className="sr-only">Agent: </span>
        <Markdown text={item.text} />
        {item.isInterrupted && <InterruptedNote />}
      </div>
    );
  return <Asked text={item.text} shown={item.shown} />;
}

function NewAgent({ id, reason }: { id: string; reason: string | null }) {
  const name = useAgentName(id);
  return <HandoffLine part={{ agentName: name || "Another agent", reason }} />;
}

/** A user's message. */
function Asked({ text, shown }: { text: string; shown: ShownLists }) {
  return (
    <div className="ml-auto flex max-w-[85%] flex-col gap-2 rounded-lg bg-hover px-3.5 py-2">
      <p className="text-md wrap-anywhere whitespace-pre-wrap">
        <span className="sr-only">User: </span>
        {text}
      </p>
      <ShownMedia {...shown} />
    </div>
  );
}

function CallView({ call }: { call: Item & { kind: "call" } }) {
  return (
    <details className="min-w-0 rounded-lg border border-line">
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-lg px-3 hover:bg-hover">
        <StepIcon type="tool_call" />
        <span className="cut font-medium">{call.name}</span>
        <span className="ml-auto text-xs text-muted">{call.output === null ? "No output" : "Called"}</span>
      </summary>
      <div className="flex flex-col gap-3 border-t border-line px-3 py-2.5">
        <div className="min-w-0">
          <h3 className="mb-1 text-xs text-muted">Arguments</h3>
          <JsonView value={call.args} />
        </div>
        {call.output !== null && (
          <div className="min-w-0">
            <h3 className="mb-1 text-xs text-muted">Output</h3>
            <pre className="max-h-80 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{call.output}</pre>
            <ShownMedia images={call.images} />
          </div>
        )}
      </div>
    </details>
  );
}

/** Line that names the run of the following messages, with its status unless it completed. */
function RunLine({ runId, run, at }: { runId: string; run: Run | undefined; at: string }) {
  const agent = useAgentName(run?.agent_id ?? "");
  return (
    <div className="flex min-w-0 items-center gap-2 border-b border-line-soft pb-1 text-xs text-muted">
      <Link to="/runs/$runId" params={{ runId }} className="cut rounded-sm hover:underline" title="Open the run">
        {agent ? <span className="font-medium text-ink">{agent}</span> : <code>{runId}</code>}
      </Link>
      {run && run.status !== "completed" && <StatusPill status={run.status} />}
      <span className="ml-auto shrink-0">
        <Time at={at} />
      </span>
    </div>
  );
}

/** An unfinished run of the thread: its input, output so far and pending calls. */
export function OpenRun({ run: listed, may }: { run: Run; may: boolean }) {
  const whole = useQuery({ ...openRunQuery(useWorkspace(), listed), enabled: listed.truncated !== undefined });
  const run = whole.data ?? listed;
  const view = useRunText(run);
  const parts = view.parts.filter(isShown);
  const calls = run.status === "requires_action" ? (run.required_action?.submit_tool_outputs.tool_calls ?? []) : [];
  const isCut = run.truncated?.includes("required_action");
  return (
    <article className="flex min-w-0 flex-col gap-3">
      <RunLine runId={run.id} run={run} at={run.created_at} />
      <Asked text={wholeText(run.input)} shown={shownInput(run.input)} />
      {parts.map((part) => (
        <OpenPart key={part.key} part={part} />
      ))}
      {run.status === "paused" && <Callout tone="info">Paused: it goes on when you resume it on its page.</Callout>}
      {run.status === "queued" && <p className="text-muted">Starts when the earlier runs have ended.</p>}
      {calls.map((call) =>
        may && !isCut ? (
          <OpenCall key={`${call.tool_call_id} ${call.needs}`} runId={run.id} call={call} />
        ) : (
          <Callout key={call.tool_call_id} tone="ask">
            {call.name} is waiting for {may ? "a response" : "someone with permission to respond"}.
          </Callout>
        ),
      )}
      {run.status === "requires_action" && !isCut && (
        <ConsentCards authorizations={run.required_action?.authorizations} />
      )}
    </article>
  );
}

/** Tool calls are shown once the run is over, except those that wait. */
const isShown = (part: Part): boolean =>
  part.kind !== "tool" && (part.kind !== "text" || (part.state !== "void" && part.output !== ""));

function OpenPart({ part }: { part: Part }) {
  if (part.kind === "message") return <Asked text={part.content} shown={{}} />;
  if (part.kind === "handoff") return <HandoffLine part={part} />;
  if (part.kind === "tool") return null;
  return (
    <div className="min-w-0">
      <Markdown text={part.output} growing={part.state === "writing" && !part.isInterrupted} />
      {part.isInterrupted && <InterruptedNote />}
    </div>
  );
}

/** Live output of a run, updated at most once per animation frame. A queued run has none. */
function useRunText({ id: runId, status }: Pick<Run, "id" | "status">): RunView {
  const { projectId, mode } = useWorkspace();
  const [view, setView] = useState(emptyRunView);
  const hasBegun = status !== "queued";
  useEffect(() => {
    if (!hasBegun) return;
    return followRun({ projectId, mode }, runId, {
      onFrames: (frames) => setView((before) => foldFrames(before, frames)),
      onState: () => {},
    });
  }, [projectId, mode, runId, hasBegun]);
  return view;
}
