import type { JournalEntry } from "../../../../server/domain/run-event.ts";
import { fieldsOf } from "../../lib/json-text.ts";

/**
 * Length of the text that a model had written at a time, in UTF-16 code units; null if the journal does not contain it.
 */
export function streamedLength(raw: readonly JournalEntry[], time: number): number | null {
  const done = raw.findLast(({ event }) => event.type === "step.completed");
  const answer = done?.event.type === "step.completed" ? done.event.answer : null;
  const begun = raw.findLast(({ event }) => event.type === "step.started" || event.type === "step.restarted");
  if (!done || !begun || !answer) return null;
  const { parts, deltas } = answer;
  if (time >= done.at) return Number.POSITIVE_INFINITY;
  // Without deltas, the whole text arrived at the end.
  let length = 0;
  for (let i = 0; i + 2 < deltas.length; i += 3) {
    const [part, size, after] = [deltas[i], deltas[i + 1], deltas[i + 2]] as [number, number, number];
    if (begun.at + after > time) continue;
    if (fieldsOf(parts[part]).type === "text") length += size;
  }
  return length;
}
