import { guardrailLimits } from "../limits.ts";
import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** Asks a model whether a rule is kept. */
export const kind: GuardrailKind = {
  about: "opinion",
  required: { prompt: checkPrompt },
  optional: { model: checkModelName },
  message: () => "It breaks the rule, says the judge.",
};

function checkPrompt(value: unknown, path: string, complain: Complain): void {
  const { prompt_length } = guardrailLimits;
  if (typeof value !== "string" || value.trim() === "" || value.length > prompt_length)
    complain(path, `Must be a text of at most ${prompt_length} characters.`);
}

function checkModelName(value: unknown, path: string, complain: Complain): void {
  if (typeof value !== "string" || value === "" || value.length > 300) complain(path, "Must be <provider>/<model>.");
}
