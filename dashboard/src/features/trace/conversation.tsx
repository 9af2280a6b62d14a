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
import { answeringAgents } from "./answering-agents.ts";
import { isInterruptedCall } from "./interrupted-call.ts";
import { RowContext, shownStep, useReplayProgress } from "./replay-context.ts";
import { SteeredMessages, steeredInto, waitingMessages } from "./steered-messages.tsx";
import { statusWord } from "./step-words.ts";

const shownAtFirst = 40;

/** Conversation of a run in order: input, model messages and tool calls. */
export function Conversation({
  run,
  agent,
  steps,
  live,
  onSelect,
}: {
  run: Run;
  /** Name of the run's own agent. */
  agent: string;
  steps: readonly TraceStep[];
  live: RunView;
  onSelect: (key: string) => void;
}) {
  const [all, setAll] = useState(false);
  const turnSteps = steps.filter(({ type }) => type === "model_call" || stepKinds[type]?.isCall);
  const agents = answeringAgents(steps, agent);
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
        <RowContext key={step.id} value={shownStep(run.id, steps, step, run.completed_at)}>
          {step.type === "model_call" ? (
            <ModelMessage step={step} agent={agents.get(step.id)} live={textOfStep(live, step.step_index)} />
          ) : step.handoff ? (
            <HandoffLine step={step} onSelect={onSelect} />
          ) : (
            <CallLine step={step} onSelect={onSelect} />
          )}
        </RowContext>
      ))}
      <SteeredMessages messages={waitingMessages(run, steps, live)} aside="For the next model call" />
    </>
  );
}

interface ModelMessageProps {
  step: TraceStep;
  agent: string | undefined;
  live: TextPart | undefined;
}

/** A model's answer, after the messages that came since the call before it. */
function ModelMessage({ step, agent, live }: ModelMessageProps) {
  if (useReplayProgress() === "nothing") return null;
  return (
    <>
      <SteeredMessages messages={steeredInto(step)} />
      <AnswerCard step={step} agent={agent} live={live}>
        {step.error && !isInterruptedCall(step) && <p className="text-bad wrap-anywhere">{step.error.message}</p>}
      </AnswerCard>
    </>
  );
}

/** The place where another agent goes on; selecting it opens its step. */
function HandoffLine({ step, onSelect }: { step: TraceStep; onSelect: (key: string) => void }) {
  if (useReplayProgress() === "nothing") return null;
  return (
    <button
      type="button"
      onClick={() => onSelect(String(step.step_index))}
      className="flex min-h-(--row-dense) w-full min-w-0 shrink-0 items-center gap-2 rounded-md px-2.5 py-1 text-left text-muted hover:bg-hover"
    >
      <StepIcon type="handoff" />
      <span className="min-w-0 wrap-anywhere">
        <span className="font-medium text-ink">{step.handoff?.agent_name}</span> answers from here
      </span>
    </button>
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
