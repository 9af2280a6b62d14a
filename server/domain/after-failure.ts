import type { RequestOutcome } from "../lib/request-outcome.ts";
import type { ToolSnapshot } from "./agent-snapshot.ts";
import type { ToolError } from "./run-event.ts";

/**
 * Decision after a failed call: `repeat` (safe, under the same key, up to the tool's retries), `fail`, `ask` a person
 * whether it happened, or `report` "unknown" to the model.
 */
type AfterFailure = "repeat" | "fail" | "ask" | "report";

/**
 * Decides by whether the call may have happened. A timeout, a lost connection and a crash of the process all leave the
 * same knowledge ("sent"), so they lead to the same decision.
 */
export function afterFailure(
  request: RequestOutcome,
  { idempotent, on_unknown }: Pick<ToolSnapshot, "idempotent" | "on_unknown">,
): AfterFailure {
  switch (request) {
    case "not_sent":
      return "repeat";
    case "answered":
      return "fail";
    case "sent":
      return idempotent || on_unknown === "retry" ? "repeat" : on_unknown;
    default:
      return request satisfies never;
  }
}

/** Error that the model reads after a call with an unknown outcome; `why` is a sentence. */
export const outcomeUnknown = (why: string): ToolError => ({
  code: "outcome_unknown",
  message: `${why} It may or may not have had its effect.`,
});
