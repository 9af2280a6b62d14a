import { formatCount, joinFacts } from "../../../lib/format.ts";
import { fieldsOf } from "../../../lib/json-text.ts";
import { Callout } from "../../../ui/feedback/callout.tsx";
import type { StepPart, StepProps } from "./step-part.ts";

export const guardrailPart: StepPart = {
  word: "Guardrail",
  sub: ({ input, output }) => {
    const { verdict } = fieldsOf(output);
    return joinFacts(
      `on ${String(fieldsOf(input).on ?? "")}`,
      typeof verdict === "string" ? verdict.replaceAll("_", " ") : "",
    );
  },
  Output: Verdict,
};

const verdicts: Record<string, ["ok" | "warn" | "bad" | "info", string]> = {
  passed: ["ok", "Passed"],
  flagged: ["warn", "Flagged and allowed"],
  redacted: ["warn", "Redacted: the findings were removed before use"],
  approval_required: ["warn", "Approval required"],
  blocked: ["bad", "Blocked"],
};

function Verdict({ step }: StepProps) {
  const { verdict, message, matches } = fieldsOf(step.output);
  const [tone, word] = verdicts[String(verdict)] ?? ["info", String(verdict)];
  if (step.error) return null;
  return (
    <Callout tone={tone}>
      <b>{word}</b>
      {typeof message === "string" && message !== "" && <p>{message}</p>}
      {typeof matches === "number" && matches > 0 && (
        <p className="text-muted">{matches === 1 ? "1 place" : `${formatCount(matches)} places`}</p>
      )}
    </Callout>
  );
}
