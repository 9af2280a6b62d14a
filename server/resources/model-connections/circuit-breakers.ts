import { supersededCall } from "../../domain/error-messages.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { Admission, CallResult, Outage } from "../../domain/outage.ts";
import { AppendRefused } from "../../storage/journal/journal.ts";

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>;

interface Breaker {
  /** State of the connection when its calls failed. */
  identity: string | null;
  /** Failures in a row. */
  failures: number;
  failed_at: number;
  error: CodedError;
  /** Null while it is closed. */
  opened_at: number | null;
  /** Time from which a call that has no other model is admitted as a probe. */
  probe_at: number;
  /** The same for a call that has another model: it should rarely pay for the attempt. */
  spare_at: number;
  cooldown_ms: number;
  /** The run whose call is the probe. */
  probe: string | null;
}

interface Waiter {
  run_id: string;
  models: readonly string[];
  deadline: number;
  admit(admission: Admission): void;
  refuse(error: Error): void;
}

/** Failures in a row that open a breaker. */
const failuresMax = 5;
const cooldowns_ms = { first: 1000, most: 60_000 };
// Calls that wait find a server that is back within this time.
const waitingMost_ms = 4000;
// A server may ask for hours: a probe finds out whether it meant that.
const retryAfterMost_ms = 600_000;
// A failure this old says nothing any more.
const stale_ms = 600_000;

/**
 * Circuit breakers of models, by their full names. On the main thread, because runs of all threads share them. A
 * breaker opens after five failures in a row; then one call at a time is admitted as a probe, with growing pauses, and
 * an answer closes it. Another address or key of its connection ends it. The built-in test models have none.
 */
export function createCircuitBreakers({
  now,
  identityOf = () => null,
  onChange = () => {},
}: {
  now: () => number;
  /** Returns the state of a model's connection. */
  identityOf?(model: string): string | null;
  /** Called when a breaker opens, and when it closes (`outage` is null). */
  onChange?(model: string, outage: Outage | null): void;
}) {
  const breakers = new Map<string, Breaker>();
  const waiters = new Set<Waiter>();
  let timer: Timer | null = null;

  /** Returns the breaker of a model. One of a connection that has changed since says nothing about the new one. */
  function breakerOf(model: string): Breaker | undefined {
    const breaker = breakers.get(model);
    if (!breaker || breaker.identity === identityOf(model)) return breaker;
    breakers.delete(model);
    if (breaker.opened_at !== null) onChange(model, null);
    return undefined;
  }

  function outageOf(model: string): Outage | null {
    const breaker = breakerOf(model);
    if (breaker?.opened_at == null) return null;
    const state = breaker.probe !== null || breaker.probe_at <= now() ? "half_open" : "open";
    return { model, state, since_ms: breaker.opened_at, error: breaker.error };
  }

  /** Returns whether a call may be made now; makes it the probe of an open breaker. `waits`: it has no other model. */
  function isAdmitted(run_id: string, model: string, waits: boolean): boolean {
    const breaker = breakerOf(model);
    if (breaker?.opened_at == null) return true;
    if (breaker.probe !== null || (waits ? breaker.probe_at : breaker.spare_at) > now()) return false;
    breaker.probe = run_id;
    return true;
  }

  function choose(run_id: string, models: readonly string[], waits: boolean): Admission | null {
    const [first = ""] = models;
    const outage = outageOf(first);
    const model = models.find((one) => isAdmitted(run_id, one, waits));
    return model === undefined ? null : { model, skipped: model === first ? null : outage };
  }

  const outagesOf = (models: readonly string[]): Outage[] => models.flatMap((model) => outageOf(model) ?? []);

  /** True if a call on its way will say whether one of these models answers. */
  const isProbed = ({ models }: Waiter): boolean => models.some((model) => breakerOf(model)?.probe != null);

  /** Admits the waiting calls that may be made now, in the order of their arrival, and refuses those out of time. */
  function settle(): void {
    for (const waiter of waiters) {
      const admission = choose(waiter.run_id, waiter.models, true);
      if (!admission && (waiter.deadline > now() || isProbed(waiter))) continue;
      waiters.delete(waiter);
      waiter.admit(admission ?? { refused: outagesOf(waiter.models) });
    }
    arm();
  }

  /** Sets the timer for the next moment at which a waiting call may be admitted, or is out of time. */
  function arm(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    const times = Array.from(waiters).flatMap(({ deadline, models }) => [
      deadline,
      ...models.flatMap((model) => breakers.get(model)?.probe_at ?? []),
    ]);
    const next = Math.min(...times.filter((at) => at > now()));
    if (Number.isFinite(next)) timer = setTimeout(settle, next - now());
  }

  function open(model: string, breaker: Breaker, retry_after_ms: number | null): void {
    const isNew = breaker.opened_at === null;
    breaker.opened_at ??= now();
    const asked_ms = Math.min(retry_after_ms ?? 0, retryAfterMost_ms);
    breaker.probe_at = now() + Math.max(Math.min(breaker.cooldown_ms, waitingMost_ms), asked_ms);
    breaker.spare_at = now() + Math.max(breaker.cooldown_ms, asked_ms);
    breaker.cooldown_ms = Math.min(breaker.cooldown_ms * 2, cooldowns_ms.most);
    if (isNew) onChange(model, outageOf(model));
  }

  function close(model: string, breaker: Breaker): void {
    const wasOpen = breaker.opened_at !== null;
    Object.assign(breaker, { opened_at: null, probe: null, cooldown_ms: cooldowns_ms.first });
    if (wasOpen) onChange(model, null);
  }

  function fail(run_id: string, model: string, { error, retry_after_ms }: Extract<CallResult, { is: "failed" }>): void {
    const breaker = breakerOf(model) ?? newBreaker(error, identityOf(model));
    breakers.set(model, breaker);
    if (now() - breaker.failed_at > stale_ms && breaker.opened_at === null) breaker.failures = 0;
    Object.assign(breaker, { failures: breaker.failures + 1, failed_at: now(), error });
    const wasProbe = breaker.probe === run_id;
    if (wasProbe) breaker.probe = null;
    // Calls that began before it opened change nothing.
    if (wasProbe || (breaker.opened_at === null && breaker.failures >= failuresMax))
      open(model, breaker, retry_after_ms);
  }

  function report(run_id: string, model: string, result: CallResult): void {
    const breaker = breakerOf(model);
    if (result.is === "failed") fail(run_id, model, result);
    else if (!breaker) return;
    else if (result.is === "unknown") breaker.probe = breaker.probe === run_id ? null : breaker.probe;
    else if (result.is === "answered") {
      close(model, breaker);
      breakers.delete(model);
    } else if (breaker.opened_at !== null) {
      close(model, breaker);
      breaker.failures = failuresMax - 1; // An answer that breaks off opens it again at once.
    }
    settle();
  }

  return {
    /** True if a call of any model has failed lately: calls then have to be admitted. */
    hasTrouble(): boolean {
      for (const [model, { opened_at, failed_at }] of breakers)
        if (opened_at === null && now() - failed_at > stale_ms) breakers.delete(model);
      return breakers.size > 0;
    },

    /** Admits a call to the first of these models that may be called, or refuses it once `wait_ms` have passed. */
    admit(run_id: string, models: readonly string[], wait_ms: number): Promise<Admission> {
      const admission = choose(run_id, models, false) ?? (wait_ms > 0 ? choose(run_id, models, true) : null);
      if (admission) return Promise.resolve(admission);
      if (wait_ms <= 0) return Promise.resolve({ refused: outagesOf(models) });
      return new Promise((admit, refuse) => {
        waiters.add({ run_id, models, deadline: now() + wait_ms, admit, refuse });
        arm();
      });
    },

    report,

    /** Gives up what a run that is no longer driven waits for, and its probe. */
    leave(run_id: string): void {
      let isProbe = false;
      for (const waiter of waiters)
        if (waiter.run_id === run_id) {
          waiters.delete(waiter);
          waiter.refuse(new AppendRefused(supersededCall));
        }
      for (const breaker of breakers.values())
        if (breaker.probe === run_id) {
          breaker.probe = null;
          isProbe = true;
        }
      if (isProbe) settle();
    },

    /** Models whose calls fail, by the time of the outage. */
    outages: (): Outage[] => outagesOf([...breakers.keys()]).sort((a, b) => a.since_ms - b.since_ms),

    stop(): void {
      if (timer) clearTimeout(timer);
      waiters.clear();
    },
  };
}

const newBreaker = (error: CodedError, identity: string | null): Breaker => ({
  identity,
  failures: 0,
  failed_at: 0,
  error,
  opened_at: null,
  probe_at: 0,
  spare_at: 0,
  cooldown_ms: cooldowns_ms.first,
  probe: null,
});
