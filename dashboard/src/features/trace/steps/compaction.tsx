import { formatCount, plural } from "../../../lib/format.ts";
import { fieldsOf } from "../../../lib/json-text.ts";
import { Markdown } from "../../../ui/data/markdown.tsx";
import { Block } from "../../../ui/data/value.tsx";
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
  const { summary, left_out, tokens_before, tokens_after, tool_output_max_bytes } = {
    ...fieldsOf(step.input),
    ...fieldsOf(step.output),
  };
  return (
    <>
      <p>
        The prompt was too long: {plural(left_out as number, "message")} left out, from about{" "}
        {formatCount(tokens_before as number)} to {formatCount(tokens_after as number)} tokens.
        {typeof tool_output_max_bytes === "number" &&
          ` Tool results are shortened to ${formatCount(tool_output_max_bytes)} bytes each.`}
      </p>
      {typeof summary === "string" ? (
        <Block title="Summary" copy={summary}>
          <Markdown text={summary} />
        </Block>
      ) : (
        <p className="text-muted">No summary was made.</p>
      )}
    </>
  );
}
