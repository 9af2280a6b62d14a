/** Start of a run's status, and the milliseconds in progress before it. */
interface StatusTiming<Status extends string = string> {
  status: Status;
  status_since_ms: number;
  worked_ms: number;
}

/** Returns the status from `at` on. Only being in progress is work; waiting and queueing are not. */
export function enterStatus<Status extends string>(
  before: StatusTiming,
  status: Status,
  at: number,
): StatusTiming<Status> {
  return { status, status_since_ms: at, worked_ms: workedUntil(before, at) };
}

const workedUntil = ({ status, status_since_ms, worked_ms }: StatusTiming, at: number): number =>
  worked_ms + (status === "in_progress" ? Math.max(0, at - status_since_ms) : 0);

/** Time of a run by activity, up to `as_of`, in milliseconds. */
export interface Timing {
  /** Time in progress. */
  worked_ms: number;
  /** Time waiting for a person, or for the client's own code, and time paused. */
  waited_ms: number;
  /** Duration of a fork's copied steps; null if it was not recorded. Not part of the other two. */
  recorded_ms: number | null;
}

/** Returns the timing up to the run's end, or its newest event. */
export function timingOf(
  run: StatusTiming & { started_at: number | null; updated_at: number; ended_at: number | null },
  recorded_ms: number | null,
): Timing & { as_of: number } {
  const as_of = run.ended_at ?? run.updated_at;
  const worked_ms = workedUntil(run, as_of);
  const all = as_of - (run.started_at ?? as_of);
  return { worked_ms, waited_ms: Math.max(0, all - worked_ms), recorded_ms, as_of };
}

/** Returns the timing at a later time, which includes the current activity. Null if the run has none. */
export function timingAt(
  { status, timing }: { status: string; timing: (Timing & { as_of: string }) | null },
  now: number,
): Timing | null {
  if (!timing) return null;
  const { as_of, ...known } = timing;
  const since = Math.max(0, now - Date.parse(as_of));
  if (status === "in_progress") return { ...known, worked_ms: known.worked_ms + since };
  if (status === "requires_action" || status === "paused") return { ...known, waited_ms: known.waited_ms + since };
  return known;
}
