import { inputFault, type RunInput } from "../../domain/run-input.ts";
import { invalid } from "../../http/errors.ts";
import { inputMost } from "../../http/schemas.ts";

/** Throws if the input is too long, or its messages are no conversation that ends with a user message. */
export function requireInput(input: RunInput, param: string): void {
  const issue = inputFault(input, inputMost);
  if (issue) throw invalid(`${param}${issue.path}`, issue.message);
}
