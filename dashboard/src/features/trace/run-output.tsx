import { useQuery } from "@tanstack/react-query";
import type { RequiredCall as PendingCall, RunError } from "../../../../server/core/run-event.ts";
import { wholeText } from "../../../../server/core/run-input.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import { type RunView, textOfStep } from "../../../../server/wire/fold-frames.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { OpenCall } from "../../entities/call/open-call.tsx";
import { type LoadedTrace, requestIdQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { WireLine } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { Block, LongText } from "../../ui/value.tsx";
import { RowContext, shownStep, useReached, useShownRow } from "./replay-context.ts";
import { RunScores } from "./run-scores.tsx";
import { StepText } from "./step-text.tsx";
import { passagesOf, placeOf } from "./steps/retrieval.tsx";

/** What went into a run and what came out; while it goes on, as far as it wrote. */
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
  const isEnd = useReached() === "all";
  const row = useShownRow();
  // A replay writes the output with the last answer of a model, as it came.
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

/** The passages that the run was given, by file and page; the step shows what they say. */
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

/** The answer first: why a run failed, or what it waits for. */
function Outcome({ run, onSelect }: { run: Run; onSelect: (key: string) => void }) {
  if (run.status === "failed" && run.error) return <Failed runId={run.id} error={run.error} onSelect={onSelect} />;
  if (run.status === "cancelled") return <Note tone="info">{run.error?.message || "This run was cancelled."}</Note>;
  if (run.status === "queued")
    return <Note tone="info">Queued: it starts when the runs before it have started and a slot is free.</Note>;
  if (isOver(run.status)) return null;
  return <WaitingCalls runId={run.id} calls={run.required_action?.submit_tool_outputs.tool_calls ?? []} />;
}

function Failed({ runId, error, onSelect }: { runId: string; error: RunError; onSelect: (key: string) => void }) {
  const { data: requestId } = useQuery(requestIdQuery(useWorkspace(), runId));
  const { step_index: index, message, retryable, code } = error;
  return (
    <Note tone="bad">
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
    </Note>
  );
}

/** What waits for a person, to be answered in place by who may. */
export const WaitingCalls = ({ runId, calls }: { runId: string; calls: readonly PendingCall[] }) =>
  calls.map((call) => <OpenCall key={`${call.id} ${call.needs}`} runId={runId} call={call} />);
