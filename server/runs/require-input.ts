import { limits } from "../core/limits.ts";
import { inputFault, type RunInput } from "../core/run-input.ts";
import { fault, validationError } from "../http/errors.ts";

/** Throws for an input that is too long, or whose last message is not the user's. */
export function requireInput(input: RunInput, param: string): void {
  const wrong = inputFault(input, limits.input_bytes);
  if (wrong) throw validationError([fault(`${param}${wrong.path}`, wrong.message)]);
}
