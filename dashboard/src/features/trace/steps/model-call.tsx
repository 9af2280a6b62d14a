import { AskedCall, Reasoning } from "../../../entities/run/message-card.tsx";
import { formatCost, joinFacts, plural } from "../../../lib/format.ts";
import { fieldsOf } from "../../../lib/json-text.ts";
import { Block } from "../../../ui/data/value.tsx";
import { modelOutput } from "../answer-card.tsx";
import { ProviderWork } from "../provider-work.tsx";
import { useReplayProgress } from "../replay-context.ts";
import { PendingOutput, StepText } from "../step-text.tsx";
import type { StepPart, StepProps } from "./step-part.ts";

export const modelCallPart: StepPart = {
  word: "Model call",
  sub: ({ output, usage }) => {
    const { tool_calls: calls } = fieldsOf(output);
    return joinFacts(
      usage?.input_tokens != null && plural(usage.input_tokens + (usage.output_tokens ?? 0), "token"),
      usage?.cost_usd != null && usage.cost_usd > 0 && formatCost(usage.cost_usd, usage.cost_estimated),
      Array.isArray(calls) && calls.length > 0 && plural(calls.length, "tool call"),
    );
  },
  Output: Written,
};

/** A model's output so far. */
export function Written({ step, live }: StepProps) {
  const isWhole = useReplayProgress() === "all";
  const { isWriting, text, calls: requestedCalls } = modelOutput(step, live);
  const calls = isWhole ? requestedCalls : [];
  return (
    <>
      {isWhole && step.reasoning && <Reasoning text={step.reasoning} />}
      {(text || isWriting) && (
        <Block title="Text" copy={(isWhole && text) || undefined}>
          <StepText text={text} name={step.name} growing={isWriting} />
        </Block>
      )}
      {calls.length > 0 && (
        <Block title="Requested tool calls">
          <div className="flex flex-col gap-1">
            {calls.map((call) => (
              <AskedCall key={call.id} name={call.name} args={call.arguments} />
            ))}
          </div>
        </Block>
      )}
      {isWhole && <ProviderWork step={step} />}
      {isWhole && step.tools_loaded && (
        <Block title="Loaded tools">
          <p className="font-mono text-xs break-words">
            {step.tools_loaded.join(", ") || "None: the model may search for tools."}
          </p>
        </Block>
      )}
      {isWhole && step.adjustments && (
        <Block title="Differences from the request">
          <ul className="flex list-disc flex-col gap-1 pl-4">
            {step.adjustments.map(({ field, message }) => (
              <li key={field}>{message}</li>
            ))}
          </ul>
        </Block>
      )}
      {!isWhole && !text && <PendingOutput />}
      {isWhole && !text && !isWriting && calls.length === 0 && !step.error && <p className="text-muted">No text.</p>}
    </>
  );
}
