import type { RunEvent } from "../core/run-event.ts";
import { redactedJson } from "./redacted-json.ts";

/** An event as it leaves this server. What stands in the journal stays as it is. */
export function exportedEvent(event: RunEvent): RunEvent {
  const shown = redactedJson(event);
  if (shown.type !== "step.completed" || !shown.answer || event.type !== "step.completed") return shown;
  const same = JSON.stringify(shown.answer.parts) === JSON.stringify(event.answer?.parts);
  // How a text arrived is told by lengths, which are another text's once something in it is masked.
  return same ? shown : { ...shown, answer: { ...shown.answer, deltas: [] } };
}
