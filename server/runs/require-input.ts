import { inputFault, type RunInput } from "../core/run-input.ts";
import { invalid } from "../http/errors.ts";
import { inputMost } from "../http/schemas.ts";

/** Throws for an input that is too long, or whose messages are no conversation that ends with the user's. */
export function requireInput(input: RunInput, param: string): void {
  const wrong = inputFault(input, inputMost);
  if (wrong) throw invalid(`${param}${wrong.path}`, wrong.message);
}
