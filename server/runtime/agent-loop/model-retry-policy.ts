import type { RunState } from "../../domain/run-state.ts";
import { backoff } from "../../lib/retry.ts";
import type { ModelError } from "../models/model.ts";

// Maximum number of attempts if each fails transiently.
const attemptsMax = 4;
// Total wait for an unreachable server: enough for a restart.
const away_ms = 30_000;
// Pauses stop growing at this attempt, 4 seconds, so that a server that is back is found soon.
const steepest = 4;
// Longest wait for a server that says when it can be asked again, if another model can be asked at once.
const askedMost_ms = 10_000;
// Attempts after an error of the server, if another model can be asked: the first may have been an accident.
const attemptsBeforeMove = 2;

/** The delay before the next attempt; or null to give up, perhaps for a reason to add to the error. */
interface Pause {
  delay_ms: number | null;
  reason?: string;
}

export type ModelRetryPolicy = ReturnType<typeof createModelRetryPolicy>;

/**
 * Decides about attempts of one call that fails transiently. Stateful: call `after` once per failure. `timeLeft_ms`
 * returns the rest of the run's time: what a server asks for beyond it is not waited for.
 */
export function createModelRetryPolicy(timeLeft_ms: () => number) {
  let [attempts, waited_ms] = [0, 0];
  return {
    after({ retryable, request, unready, retry_after_ms }: ModelError): Pause {
      attempts++;
      const isWaitedFor = (request === "not_sent" || unready === true) && waited_ms < away_ms;
      if (!retryable || (attempts >= attemptsMax && !isWaitedFor)) return { delay_ms: null };
      if (retry_after_ms !== null && retry_after_ms > timeLeft_ms())
        return { delay_ms: null, reason: tooLate(retry_after_ms, timeLeft_ms()) };
      const pause_ms = retry_after_ms ?? backoff(Math.min(attempts, steepest), null);
      const delay_ms = isWaitedFor && retry_after_ms === null ? Math.min(pause_ms, away_ms - waited_ms) : pause_ms;
      waited_ms += delay_ms;
      return { delay_ms };
    },
    /** Milliseconds that a call may still wait for a server that is away. */
    patience_ms: (): number => Math.max(0, Math.min(away_ms - waited_ms, timeLeft_ms())),
    /** Counts a wait for a server that was away. */
    waited(ms: number): void {
      waited_ms += ms;
    },
  };
}

const tooLate = (asked_ms: number, left_ms: number): string =>
  `It asks to wait ${seconds(asked_ms)} seconds, and the run has ${seconds(Math.max(0, left_ms))} left.`;

const seconds = (ms: number): number => Math.ceil(ms / 1000);

/**
 * Returns the delay before the same model is asked once more although another one could be asked; null to ask the other.
 * `attempts` counts those of this model, the failed one included.
 */
export function pauseBeforeMove(error: ModelError, attempts: number): number | null {
  const { code, retryable, request, silent, retry_after_ms } = error;
  const most = code === "model_rate_limited" ? attemptsMax : attemptsBeforeMove;
  if (!retryable || silent || request === "not_sent" || attempts >= most) return null;
  if (retry_after_ms !== null) return retry_after_ms <= askedMost_ms ? retry_after_ms : null;
  return backoff(Math.min(attempts, steepest), null);
}

/** Milliseconds that a run may still take: of its time in progress, and of its budget's time. */
export function timeLeft({ run, worked_ms, status_since_ms, started_at, created_at }: RunState, now: number): number {
  const worked = worked_ms + Math.max(0, now - status_since_ms);
  const wall = run.budget?.max_wall_ms ?? Number.POSITIVE_INFINITY;
  return Math.min(run.timeout_ms - worked, wall - (now - (started_at ?? created_at)));
}
