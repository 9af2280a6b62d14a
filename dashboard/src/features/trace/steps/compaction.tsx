import { formatCount } from "../../../lib/format.ts";
import { fieldsOf } from "../../../lib/json-text.ts";
import { Value } from "../../../ui/value.tsx";
import type { StepPart, StepProps } from "./step-part.ts";

export const compactionPart: StepPart = {
  word: "Compaction",
  sub: ({ output }) => {
    const { left_out } = fieldsOf(output);
    return typeof left_out === "number" ? `${formatCount(left_out)} left out` : "";
  },
  Output: Compacted,
};

function Compacted({ step }: StepProps) {
  const { summary, left_out, tokens_before, tokens_after } = { ...fieldsOf(step.input), ...fieldsOf(step.output) };
  return (
    <>
      <p>
        The prompt had become too long: {formatCount(left_out as number)} messages were left out, and it went from about{" "}
        {formatCount(tokens_before as number)} to {formatCount(tokens_after as number)} tokens.
      </p>
      {typeof summary === "string" ? (
        <Value title="Summary in their place" name="summary" value={summary} />
      ) : (
        <p className="text-muted">They were removed without a summary.</p>
      )}
    </>
  );
}
