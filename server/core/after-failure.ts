import type { RequestState } from "../lib/request-state.ts";
import type { ToolSnapshot } from "./agent-snapshot.ts";
import type { ToolError } from "./run-event.ts";

/**
 * What follows when a call came to nothing: `repeat` where that does no harm, under the same key and as often as its tool
 * says; else it failed, or a person is asked whether it happened, or the model is told that nobody knows.
 */
type AfterFailure = "repeat" | "fail" | "ask" | "report";

/**
 * May it have happened? This is the only answer, whatever ended the request: a timeout, a lost connection and the death
 * of the process leave the same knowledge ("sent"), and so the same follows from them.
 */
export function afterFailure(
  request: RequestState,
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

/** What the model reads of a call of which nobody knows whether it happened; `why` is a sentence. */
export const outcomeUnknown = (why: string): ToolError => ({
  code: "outcome_unknown",
  message: `${why} It may or may not have had its effect.`,
});
