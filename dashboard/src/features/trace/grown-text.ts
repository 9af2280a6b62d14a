import type { JournalEntry } from "../../../../server/domain/run-event.ts";
import { fieldsOf } from "../../lib/json-text.ts";

/**
 * Length of the text that a model had written at a time, in UTF-16 code units; null if the journal does not contain it.
 */
export function streamedLength(raw: readonly JournalEntry[], time: number): number | null {
  const completion = raw.findLast(({ event }) => event.type === "step.completed");
  const answer = completion?.event.type === "step.completed" ? completion.event.answer : null;
  const stepStart = raw.findLast(({ event }) => event.type === "step.started" || event.type === "step.restarted");
  if (!completion || !stepStart || !answer) return null;
  const { parts, deltas } = answer;
  if (time >= completion.at) return Number.POSITIVE_INFINITY;
  // Without deltas, the whole text arrived at the end.
  let length = 0;
  for (let i = 0; i + 2 < deltas.length; i += 3) {
    const [part, size, after] = [deltas[i], deltas[i + 1], deltas[i + 2]] as [number, number, number];
    if (stepStart.at + after > time) continue;
    if (fieldsOf(parts[part]).type === "text") length += size;
  }
  return length;
}
