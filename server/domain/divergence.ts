import { canonicalJson } from "../lib/canonical-json.ts";
import { sha256 } from "../lib/hash.ts";
import type { Divergence, DivergenceKind, JournalEntry, RunEvent } from "./run-event.ts";

/** A divergence, and the `seq` of the entry that would be missing or different. */
export interface LocatedDivergence extends Divergence {
  seq: number;
}

// Maximal length of a value shown with a divergence; longer ones can be found in the trace by their hash.
const shownMax = 500;

/** Returns the divergence between a recorded and a computed value; null if they are equal. */
export function divergence(
  { seq }: Pick<JournalEntry, "seq">,
  step_index: number,
  kind: DivergenceKind,
  message: string,
  expected: unknown,
  actual: unknown,
): LocatedDivergence | null {
  const [said, now] = [canonicalJson(expected), canonicalJson(actual)];
  if (said === now) return null;
  return {
    seq,
    step_index,
    kind,
    expected_hash: sha256(said),
    actual_hash: sha256(now),
    message,
    ...(said.length <= shownMax && now.length <= shownMax && { expected, actual }),
  };
}

/** Divergence of two prompts, of which only the hashes are known. */
export const promptDivergence = (
  { seq }: Pick<JournalEntry, "seq">,
  step_index: number,
  message: string,
  [expected_hash, actual_hash]: [string, string],
): LocatedDivergence | null =>
  expected_hash === actual_hash ? null : { seq, step_index, kind: "prompt", expected_hash, actual_hash, message };

const names: Partial<Record<RunEvent["type"], string>> = {
  "run.completed": "the end of the run",
  "run.requires_action": "a pause",
  "run.resumed": "the end of a pause",
  "run.paused": "a pause that was asked for",
  "output.rejected": "an output that does not fit its schema",
  "history.loaded": "what was said in the thread before",
  "documents.attached": "the run's documents",
};

/** Describes a decision. */
export function describeDecision(event: RunEvent | null): string {
  if (event?.type === "step.completed") return `the end of a ${event.step_type.replace("_", " ")}`;
  if (event?.type === "step.started") return `a ${event.step_type.replace("_", " ")}`;
  if (event?.type === "run.failed") return `the failure ${event.error.code}`;
  return (event && names[event.type]) ?? "nothing of this kind";
}
