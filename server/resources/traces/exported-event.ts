import type { RunEvent } from "../../domain/run-event.ts";
import { redactedJson } from "./redacted-json.ts";

/** Exports an event with secrets redacted; the journal's event is not changed. */
export function exportedEvent(event: RunEvent): RunEvent {
  const shown = redactedJson(event);
  if (shown.type !== "step.completed" || !shown.answer || event.type !== "step.completed") return shown;
  const same = JSON.stringify(shown.answer.parts) === JSON.stringify(event.answer?.parts);
  // Deltas are stored as lengths, which no longer fit once the text is redacted.
  return same ? shown : { ...shown, answer: { ...shown.answer, deltas: [] } };
}
