import { AgentLink } from "../../../entities/agent/agent-link.tsx";
import { fieldsOf } from "../../../lib/json-text.ts";
import { Block, LongText, Value } from "../../../ui/data/value.tsx";
import type { StepPart, StepProps } from "./step-part.ts";

export const handoffPart: StepPart = {
  word: "Handoff",
  sub: ({ input }) => reasonOf(input) || "handoff",
  Output: HandoffOutput,
};

/** Returns the reason that the model gave; empty if it gave none. */
function reasonOf(input: unknown): string {
  const { reason } = fieldsOf(input);
  return typeof reason === "string" ? reason : "";
}

// Links within a sentence are underlined: colour alone does not set them apart.
const link = "text-accent underline underline-offset-2";

/** Both agents of a handoff, and its reason. */
function HandoffOutput({ step }: StepProps) {
  const { handoff, input, output } = step;
  if (!handoff) return output == null ? null : <Value title="Output" name={step.name} value={output} />;
  const reason = reasonOf(input);
  return (
    <>
      <p className="text-md wrap-anywhere">
        <AgentLink id={handoff.from_agent_id} className={link} /> handed the conversation over to{" "}
        <AgentLink id={handoff.agent_id} className={link} />, which answers from here.
      </p>
      {reason && (
        <Block title="Reason, as the other agent reads it" copy={reason}>
          <LongText text={reason} name="reason" />
        </Block>
      )}
    </>
  );
}
