import { useQuery } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { type RunView, textOfStep } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { RequiredCall as PendingCall, RunError } from "../../../../server/domain/run-event.ts";
import { wholeText } from "../../../../server/domain/run-input.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { type LoadedTrace, requestIdQuery } from "../../entities/run/trace-api.ts";
import { OpenCall } from "../../entities/tool-call/open-call.tsx";
import { useWorkspace } from "../../lib/workspace.ts";
import { Block, LongText } from "../../ui/data/value.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { WireLine } from "../../ui/feedback/error-note.tsx";
import { RowContext, shownStep, useReplayProgress, useShownRow } from "./replay-context.ts";
import { RunScores } from "./run-scores.tsx";
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
      {isEnd && <Outcome run={run} onSelect={onSelect} />}
      <Block title="Input" copy={wholeText(run.input)}>
        <LongText text={wholeText(run.input)} name="input" />
      </Block>
      {(text || writing) && (
        <Block title={run.status === "completed" ? "Output" : "Output so far"} copy={(isEnd && text) || undefined}>
          <RowContext value={answer ? shownStep(run.id, loaded.steps, answer, run.ended_at) : row}>
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

/** Result of a run: its error, or its pending calls. */
function Outcome({ run, onSelect }: { run: Run; onSelect: (key: string) => void }) {
  if (run.status === "failed" && run.error) return <Failed runId={run.id} error={run.error} onSelect={onSelect} />;
  if (run.status === "cancelled")
    return <Callout tone="info">{run.error?.message || "This run was cancelled."}</Callout>;
  if (run.status === "queued")
    return <Callout tone="info">Queued: it starts when the runs before it have started and a slot is free.</Callout>;
  if (run.status === "paused") return <Callout tone="info">Paused: it goes on when you resume it.</Callout>;
  if (isOver(run.status)) return null;
  return <WaitingCalls runId={run.id} calls={run.required_action?.submit_tool_outputs.tool_calls ?? []} />;
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
  calls.map((call) => <OpenCall key={`${call.id} ${call.needs}`} runId={runId} call={call} />);
