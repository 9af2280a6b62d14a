import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { tagsIn, tagsMax } from "../../domain/template.ts";
import { fault } from "../../http/errors.ts";

/** Returns the faults of a text that is too long, has too many variables, or has snippets: they would form cycles. */
export function textFaults(text: string): Fault[] {
  const tags = tagsIn(text);
  const faults = [];
  if (Buffer.byteLength(text) > limits.snippet_bytes)
    faults.push(fault("text", `Must have at most ${limits.snippet_bytes} bytes.`));
  if (tags.length > tagsMax) faults.push(fault("text", `Must have at most ${tagsMax} places like {{name}}.`));
  if (tags.some(({ kind }) => kind === "snippet"))
    faults.push(fault("text", "A snippet has no snippets of its own: write \\{{> for the text."));
  return faults;
}
