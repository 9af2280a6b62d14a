import { guardrailLimits } from "../limits.ts";
import { createLengthDetector } from "../max-length.ts";
import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** Limits the number of characters. */
export const kind: GuardrailKind = {
  about: "length",
  required: { max_length: checkLength },
  places: ({ max_length }) => [{ detector: createLengthDetector(max_length as number), mark: "" }],
  message: ({ max_length }) => `It is longer than ${max_length} characters.`,
  // Truncated arguments would be invalid.
  uncut: ["tool_call"],
};

function checkLength(value: unknown, path: string, complain: Complain): void {
  const { max_length } = guardrailLimits;
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > max_length)
    complain(path, `Must be an integer from 1 to ${max_length}.`);
}
