import { endsRun, type JournalEntry } from "./run-event.ts";
import { timestamp } from "./time.ts";

/** A pause of a run, or the request of one. Not a step, because the run does nothing meanwhile. */
export interface TracePause {
  requested_at: string;
  reason: string | null;
  /** When it began; null before that, and if the run went on or ended first. */
  paused_at: string | null;
  /** When the run went on, or ended. */
  completed_at: string | null;
}

/** Adds what an entry says about the pauses of its run. */
export function addPause(pauses: TracePause[], { at, event }: JournalEntry): void {
  const last = pauses.at(-1);
  if (event.type === "run.pause_requested")
    pauses.push({ requested_at: timestamp(at), reason: event.reason, paused_at: null, completed_at: null });
  else if (!last || last.completed_at !== null) return;
  else if (event.type === "run.paused") last.paused_at = timestamp(at);
  else if (event.type === "run.resumed" || event.type === "run.pause_cancelled" || endsRun(event))
    last.completed_at = timestamp(at);
}
