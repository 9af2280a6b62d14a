import { useQuery } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { type RunView, textOfStep } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { RequiredCallObject as PendingCall } from "../../../../server/domain/required-action.ts";
import type { RunError } from "../../../../server/domain/run-event.ts";
import { wholeText } from "../../../../server/domain/run-input.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { type LoadedTrace, requestIdQuery } from "../../entities/run/trace-api.ts";
import { ConsentCards } from "../../entities/tool-call/consent-card.tsx";
import { OpenCall } from "../../entities/tool-call/open-call.tsx";
import { useWorkspace } from "../../lib/workspace.ts";
import { Block, FoldedText, LongText } from "../../ui/data/value.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { WireLine } from "../../ui/feedback/error-note.tsx";
import { RowContext, shownStep, useReplayProgress, useShownRow } from "./replay-context.ts";
import { RunScores } from "./run-scores.tsx";
import { type Steered, SteeredMessages, waitingMessages } from "./steered-messages.tsx";
import { StepText } from "./step-text.tsx";
import { passagesOf, placeOf } from "./steps/retrieval.tsx";

/** Input and output of a run; while it is running, the output so far. */
export function RunOutput({
  run,
  loaded,
  live,
  onSelect,
}: {
  run: Run;
  loaded: LoadedTrace | null;
  live: RunView;
  onSelect: (key: string) => void;
}) {
  const writing = loaded?.steps.findLast(({ type, status }) => type === "model_call" && status === "in_progress");
  const text = (writing && textOfStep(live, writing.step_index)?.output) ?? run.output;
  const isEnd = useReplayProgress() === "all";
  const row = useShownRow();
  // During a replay, the output grows like the model's last answer.
  const answer = loaded && !loaded.hasMore && loaded.steps.findLast(({ type }) => type === "model_call");
  return (
    <>
      {isEnd && <Outcome run={run} loaded={loaded} onSelect={onSelect} />}
      <Block title="Input" copy={wholeText(run.input)}>
        <LongText text={wholeText(run.input)} name="input" />
      </Block>
      {run.variables && <Variables values={run.variables} />}
      {isEnd && <WaitingMessages messages={waitingMessages(run, loaded?.steps ?? [], live)} />}
      {(text || writing) && (
        <Block title={run.status === "completed" ? "Output" : "Output so far"} copy={(isEnd && text) || undefined}>
          <RowContext value={answer ? shownStep(run.id, loaded.steps, answer, run.completed_at) : row}>
            <StepText text={text ?? ""} name="output" growing={writing !== undefined} />
          </RowContext>
        </Block>
      )}
      {isEnd && run.status === "completed" && !text && <p className="text-muted">Completed without text.</p>}
      {isEnd && isOver(run.status) && <RunScores runId={run.id} />}
      {isEnd && loaded && <SourceList steps={loaded.steps} onSelect={onSelect} />}
    </>
  );
}

/** Retrieved passages by file and page; a click opens their step. */
function SourceList({ steps, onSelect }: { steps: readonly TraceStep[]; onSelect: (key: string) => void }) {
  const sources = new Map<string, { label: string; step: TraceStep }>();
  for (const step of steps)
    for (const passage of passagesOf(step)) {
      const label = [passage.filename ?? "Text entry", placeOf(passage)].filter(Boolean).join(", ");
      if (!sources.has(label)) sources.set(label, { label, step });
    }
  if (sources.size === 0) return null;
  return (
    <Block title="Sources">
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        {[...sources.values()].map(({ label, step }) => (
          <li key={label} className="min-w-0">
            <button
              type="button"
              className="wrap-anywhere text-left text-accent hover:underline"
              onClick={() => onSelect(String(step.step_index))}
            >
              {label}
            </button>
          </li>
        ))}
      </ul>
    </Block>
  );
}

/** Values that the run gave for the variables of its agent. */
function Variables({ values }: { values: NonNullable<Run["variables"]> }) {
  return (
    <Block title="Variables" copy={JSON.stringify(values, null, 2)}>
      <dl className="divide-y divide-line-soft rounded-md border border-line">
        {Object.entries(values).map(([name, value]) => (
          <div key={name} className="flex min-w-0 gap-3 px-2.5 py-1.5">
            <dt className="w-1/3 shrink-0 font-mono text-xs leading-(--leading-md) wrap-anywhere text-muted">{name}</dt>
            <dd className="min-w-0 flex-1">
              {value === "" ? (
                <span className="text-muted">Empty</span>
              ) : (
                <FoldedText text={String(value)} most={160} />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Block>
  );
}

/** Messages of the user that the next model call is the first to have. */
export function WaitingMessages({ messages }: { messages: readonly Steered[] }) {
  if (messages.length === 0) return null;
  return (
    <Block title="Messages for the next model call">
      <div className="flex flex-col gap-2">
        <SteeredMessages messages={messages} />
      </div>
    </Block>
  );
}

/** Says that the run is paused, or will be, and why. */
function PauseNote({ run, loaded }: { run: Run; loaded: LoadedTrace | null }) {
  if (run.status !== "paused" && run.pause_requested_at == null) return null;
  const reason = loaded?.trace.pauses.at(-1)?.reason;
  const isPaused = run.status === "paused";
  return (
    <Callout tone="info">
      <b>{isPaused ? "Paused" : "Pauses soon"}</b>
      {reason && <p>{reason}</p>}
      <p className="text-muted">
        {isPaused
          ? "Neither the model nor a tool is called until the run is resumed."
          : run.status === "requires_action"
            ? "The run pauses once its open calls are answered."
            : "What is in progress ends first."}
      </p>
    </Callout>
  );
}

/** Result of a run: its error, or its pending calls. */
function Outcome({ run, loaded, onSelect }: { run: Run; loaded: LoadedTrace | null; onSelect: (key: string) => void }) {
  if (run.status === "failed" && run.error) return <Failed runId={run.id} error={run.error} onSelect={onSelect} />;
  if (run.status === "cancelled")
    return <Callout tone="info">{run.error?.message || "This run was cancelled."}</Callout>;
  if (run.status === "queued")
    return <Callout tone="info">Queued: it starts when the runs before it have started and a slot is free.</Callout>;
  if (isOver(run.status)) return null;
  return (
    <>
      <PauseNote run={run} loaded={loaded} />
      <WaitingCalls runId={run.id} calls={run.required_action?.submit_tool_outputs.tool_calls ?? []} />
      <ConsentCards authorizations={run.required_action?.authorizations} />
    </>
  );
}

function Failed({ runId, error, onSelect }: { runId: string; error: RunError; onSelect: (key: string) => void }) {
  const { data: requestId } = useQuery(requestIdQuery(useWorkspace(), runId));
  const { step_index: index, message, retryable, code } = error;
  return (
    <Callout tone="bad">
      <b>{message}</b>
      <p className="text-muted">
        {index != null && (
          <>
            In{" "}
            <button type="button" className="text-accent underline" onClick={() => onSelect(String(index))}>
              step {index}
            </button>
            .{" "}
          </>
        )}
        {retryable ? "Retrying may succeed." : "Retrying would fail again."}
      </p>
      <WireLine code={code} requestId={requestId} />
    </Callout>
  );
}

/** Pending calls, which permitted people answer in place. */
export const WaitingCalls = ({ runId, calls }: { runId: string; calls: readonly PendingCall[] }) =>
  calls.map((call) => <OpenCall key={`${call.tool_call_id} ${call.needs}`} runId={runId} call={call} />);
