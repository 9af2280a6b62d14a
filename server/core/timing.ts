/** Since when a run has its status, and how long it had been in progress before. Milliseconds. */
interface Standing<Status extends string = string> {
  status: Status;
  status_since_ms: number;
  worked_ms: number;
}

/** How a run stands from `at` on. Only being in progress is work: waiting for somebody is not, nor is a queue. */
export function stoodUntil<Status extends string>(before: Standing, status: Status, at: number): Standing<Status> {
  return { status, status_since_ms: at, worked_ms: workedUntil(before, at) };
}

const workedUntil = ({ status, status_since_ms, worked_ms }: Standing, at: number): number =>
  worked_ms + (status === "in_progress" ? Math.max(0, at - status_since_ms) : 0);

/** Where a run's time went, up to `as_of`, in milliseconds. */
export interface Timing {
  /** In progress. */
  worked_ms: number;
  /** Waiting for a person, or for the client's own code. */
  waited_ms: number;
  /** What the steps took that a fork has of another run's record; null where nobody kept it. It is in neither of the others. */
  recorded_ms: number | null;
}

/** Up to its end, or to the newest thing that happened. */
export function timingOf(
  run: Standing & { started_at: number | null; updated_at: number; ended_at: number | null },
  recorded_ms: number | null,
): Timing & { as_of: number } {
  const as_of = run.ended_at ?? run.updated_at;
  const worked_ms = workedUntil(run, as_of);
  const all = as_of - (run.started_at ?? as_of);
  return { worked_ms, waited_ms: Math.max(0, all - worked_ms), recorded_ms, as_of };
}

/** The same at a later time: what goes on has grown since. Null for a run of which it is not known. */
export function timingAt(
  { status, timing }: { status: string; timing: (Timing & { as_of: string }) | null },
  now: number,
): Timing | null {
  if (!timing) return null;
  const { as_of, ...known } = timing;
  const since = Math.max(0, now - Date.parse(as_of));
  if (status === "in_progress") return { ...known, worked_ms: known.worked_ms + since };
  if (status === "requires_action") return { ...known, waited_ms: known.waited_ms + since };
  return known;
}
