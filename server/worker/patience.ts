import { backoff } from "../lib/retry.ts";
import type { ModelError } from "../models/port.ts";

// So often a model is asked, if it fails each time in a way that may pass.
const attemptsMax = 4;
// So long it is waited for a server that is away: a restart takes that.
const away_ms = 30_000;
// Pauses grow up to that of this attempt, 4 seconds: who is back is soon found.
const steepest = 4;

/** How long to wait before a model is asked again, told of one failure after the other; null: it is given up. */
export function createPatience(): (error: ModelError) => number | null {
  let [attempts, waited_ms] = [0, 0];
  return ({ retryable, request, unready, retry_after_ms }) => {
    attempts++;
    const isWaitedFor = (request === "not_sent" || unready === true) && waited_ms < away_ms;
    if (!retryable || (attempts >= attemptsMax && !isWaitedFor)) return null;
    const pause_ms = backoff(Math.min(attempts, steepest), retry_after_ms);
    const delay_ms = isWaitedFor && retry_after_ms === null ? Math.min(pause_ms, away_ms - waited_ms) : pause_ms;
    waited_ms += delay_ms;
    return delay_ms;
  };
}
