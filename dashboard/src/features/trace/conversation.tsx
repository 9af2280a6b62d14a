import { useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { type RunView, type TextPart, textOfStep } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { wholeText } from "../../../../server/domain/run-input.ts";
import { stepKinds } from "../../../../server/domain/step-kinds.ts";
import { shownInput } from "../../entities/file/shown-input.ts";
import { ShownMedia } from "../../entities/file/shown-media.tsx";
import { MessageCard } from "../../entities/run/message-card.tsx";
import { formatDuration, plural } from "../../lib/format.ts";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { LongText } from "../../ui/data/value.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { AnswerCard } from "./answer-card.tsx";
import { RowContext, shownStep, useReplayProgress } from "./replay-context.ts";
import { statusWord } from "./step-words.ts";

const shownAtFirst = 40;

/** Conversation of a run in order: input, model messages and tool calls. */
export function Conversation({
  run,
  steps,
  live,
  onSelect,
}: {
  run: Run;
  steps: readonly TraceStep[];
  live: RunView;
  onSelect: (key: string) => void;
}) {
  const [all, setAll] = useState(false);
  const turnSteps = steps.filter(({ type }) => type === "model_call" || stepKinds[type]?.isCall);
  const hidden = all ? 0 : Math.max(0, turnSteps.length - shownAtFirst);
  return (
    <>
      <MessageCard by="user">
        <LongText text={wholeText(run.input)} name="input" />
        <ShownMedia {...shownInput(run.input)} />
      </MessageCard>
      {hidden > 0 && (
        <Button size="sm" className="self-center" onClick={() => setAll(true)}>
          Show {plural(hidden, "earlier step")}
        </Button>
      )}
      {turnSteps.slice(hidden).map((step) => (
        <RowContext key={step.id} value={shownStep(run.id, steps, step, run.ended_at)}>
          {step.type === "model_call" ? (
            <ModelMessage step={step} live={textOfStep(live, step.step_index)} />
          ) : (
            <CallLine step={step} onSelect={onSelect} />
          )}
        </RowContext>
      ))}
    </>
  );
}

function ModelMessage({ step, live }: { step: TraceStep; live: TextPart | undefined }) {
  if (useReplayProgress() === "nothing") return null;
  return (
    <AnswerCard step={step} live={live}>
      {step.error && <p className="text-bad wrap-anywhere">{step.error.message}</p>}
    </AnswerCard>
  );
}

/** A call in one line; selecting it opens its step. */
function CallLine({ step, onSelect }: { step: TraceStep; onSelect: (key: string) => void }) {
  const replayState = useReplayProgress();
  if (replayState === "nothing") return null;
  const isWhole = replayState === "all";
  const outputText = step.error ? step.error.message : JSON.stringify(step.output);
  return (
    <button
      type="button"
      onClick={() => onSelect(String(step.step_index))}
      className="flex min-h-(--row-dense) w-full min-w-0 items-center gap-2 rounded-md border border-line px-2.5 text-left hover:bg-hover"
    >
      <StepIcon type={step.type} />
      <span className="cut shrink-0 font-medium max-w-2/5" title={step.name}>
        {step.name}
      </span>
      <span className={`cut flex-1 text-xs ${isWhole && step.error ? "text-bad" : "text-muted"}`}>
        {isWhole && (step.status === "completed" || step.error)
          ? outputText?.slice(0, 200)
          : statusWord[isWhole ? step.status : "in_progress"]}
      </span>
      <span className="shrink-0 text-xs text-muted tabular-nums">
        {isWhole && step.latency_ms !== null ? formatDuration(step.latency_ms) : ""}
      </span>
    </button>
  );
}
