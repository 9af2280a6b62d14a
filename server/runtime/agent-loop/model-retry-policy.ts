import { backoff } from "../../lib/retry.ts";
import type { ModelError } from "../models/model.ts";

// Maximum number of attempts if each fails transiently.
const attemptsMax = 4;
// Total wait for an unreachable server: enough for a restart.
const away_ms = 30_000;
// Pauses stop growing at this attempt, 4 seconds, so that a server that is back is found soon.
const steepest = 4;

/**
 * Returns a function that gives the delay before the next attempt, or null to give up. Stateful: call it once per
 * failure.
 */
export function createModelRetryPolicy(): (error: ModelError) => number | null {
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
