import type { Database } from "bun:sqlite";
import type { RunFacts } from "../journal/journal.ts";

// No timer tells that somebody has set the clock, or that the machine has slept.
const look_ms = 15_000;
const again_ms = 1000;
// So many at once: after a long downtime everything may be due.
const batch = 100;

type Head = Pick<RunFacts, "run_id" | "expires_at_ms" | "status_since_ms" | "status">;

/** When a run's time is up: as its row says it, and by a clock that nobody sets. */
interface Deadline {
  at: number;
  due: number;
  /** Whether it is somebody else who has to do something. */
  waits: boolean;
}

const steadyNow = (): number => performance.now();

/**
 * Ends runs whose time is up. One timer for the nearest deadline. What is left of a run's time is read off the wall clock
 * once, when its row is written or the process starts: a clock that is set later ends no work. Who waits for somebody has
 * told them a time, so its wait ends when the wall clock says so too: that is looked at now and then.
 */
export function createDeadlines(
  sqlite: Database,
  expire: (runId: string, at: number) => Promise<void>,
  now: () => number,
  {
    headOf = () => null,
    steady = steadyNow,
    every_ms = look_ms,
  }: { headOf?: (runId: string) => Head | null; steady?: () => number; every_ms?: number } = {},
) {
  const selectAll = sqlite.query<Head, []>(
    "SELECT id AS run_id, expires_at_ms, status_since_ms, status FROM runs WHERE expires_at_ms IS NOT NULL",
  );
  const deadlines = new Map<string, Deadline>();
  let timer: Timer | null = null;
  let armed = Number.POSITIVE_INFINITY;
  let stopped = false;

  /** To be called when a run may have got another deadline, or none. */
  function look(runId: string): void {
    const head = headOf(runId);
    if (head) note(head);
    else deadlines.delete(runId);
  }

  function note({ run_id: id, expires_at_ms: at, status_since_ms: since, status }: Head): void {
    const known = deadlines.get(id);
    const waits = status === "requires_action";
    if (at === null) deadlines.delete(id);
    else if (known?.at !== at || known.waits !== waits) {
      // Never more than the run was given: a clock that was set back may not lend it time.
      const due = steady() + Math.min(at - now(), at - since);
      deadlines.set(id, { at, due, waits });
      arm(due);
    }
  }

  function arm(due: number): void {
    const next = Math.min(due, steady() + every_ms);
    if (stopped || next >= armed) return;
    if (timer) clearTimeout(timer);
    armed = next;
    timer = setTimeout(() => void fire(), Math.max(0, Math.ceil(next - steady())));
  }

  const isOver = ({ at, due, waits }: Deadline): boolean => due <= steady() || (waits && at <= now());

  async function fire(): Promise<void> {
    armed = Number.POSITIVE_INFINITY;
    const over = [...deadlines].filter(([, deadline]) => isOver(deadline)).slice(0, batch);
    if (over.length === 0) return armNext();
    const ends = await Promise.allSettled(over.map(([id, { at }]) => end(id, at)));
    if (stopped) return;
    const refused = over.filter((_, index) => ends[index]!.status === "rejected");
    for (const [id, deadline] of refused) putBehind(id, deadline);
    if (refused.length === 0) return armNext();
    // Storage that takes no write now would be asked without a pause: its runs are still due.
    arm(steady() + again_ms);
  }

  function armNext(): void {
    if (deadlines.size === 0) return;
    arm([...deadlines.values()].reduce((least, { due }) => Math.min(least, due), Number.POSITIVE_INFINITY));
  }

  /** Who was refused is asked after all others: a batch of them may not hold up the rest. */
  function putBehind(id: string, deadline: Deadline): void {
    if (deadlines.get(id) !== deadline) return;
    deadlines.delete(id);
    deadlines.set(id, deadline);
  }

  async function end(id: string, at: number): Promise<void> {
    await expire(id, at);
    if (deadlines.get(id)?.at === at) deadlines.delete(id);
  }

  return {
    look,
    /** Reads the deadlines of all runs, as an earlier process left them. */
    load: () => selectAll.all().forEach(note),
    /** Runs have gone without a word. */
    forgetGone: () => [...deadlines.keys()].forEach(look),
    stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}
