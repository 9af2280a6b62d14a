import type { Database } from "bun:sqlite";

// setTimeout counts in 32 bits: a longer wait would fire at once.
const longest_ms = 2 ** 31 - 1;
const again_ms = 1000;
// So many at once: after a long downtime everything may be due.
const batch = 100;

interface Row {
  id: string;
  /** What the run's row says. */
  at: number | null;
  since: number;
}

/** When a run's time is up: as its row says it, and by a clock that nobody sets. */
interface Deadline {
  at: number;
  due: number;
}

const steadyNow = (): number => performance.now();

/**
 * Ends runs whose time is up. One timer for the nearest deadline; nothing polls. What is left of a run's time is read
 * off the wall clock once, when its row is written or the process starts: a clock that is set later ends no run.
 */
export function createDeadlines(
  sqlite: Database,
  expire: (runId: string, at: number) => Promise<void>,
  now: () => number,
  steady: () => number = steadyNow,
) {
  const columns = "id, expires_at_ms AS at, status_since_ms AS since";
  const selectRun = sqlite.query<Row, [string]>(`SELECT ${columns} FROM runs WHERE id = ?`);
  const selectAll = sqlite.query<Row, []>(`SELECT ${columns} FROM runs WHERE expires_at_ms IS NOT NULL`);
  const deadlines = new Map<string, Deadline>();
  let timer: Timer | null = null;
  let armed = Number.POSITIVE_INFINITY;
  let stopped = false;

  /** To be called when a run may have got another deadline, or none. */
  function look(runId: string): void {
    const row = selectRun.get(runId);
    if (row) note(row);
    else deadlines.delete(runId);
  }

  function note({ id, at, since }: Row): void {
    if (at === null) deadlines.delete(id);
    else if (deadlines.get(id)?.at !== at) {
      // Never more than the run was given: a clock that was set back may not lend it time.
      const due = steady() + Math.min(at - now(), at - since);
      deadlines.set(id, { at, due });
      arm(due);
    }
  }

  function arm(due: number): void {
    if (stopped || due >= armed) return;
    if (timer) clearTimeout(timer);
    armed = due;
    timer = setTimeout(() => void fire(), Math.min(Math.max(0, Math.ceil(due - steady())), longest_ms));
  }

  async function fire(): Promise<void> {
    armed = Number.POSITIVE_INFINITY;
    const over = [...deadlines].filter(([, { due }]) => due <= steady()).slice(0, batch);
    const ends = await Promise.allSettled(over.map(([id, { at }]) => end(id, at)));
    if (stopped) return;
    const refused = over.filter((_, index) => ends[index]!.status === "rejected");
    for (const [id, deadline] of refused) putBehind(id, deadline);
    if (refused.length === 0)
      return arm([...deadlines.values()].reduce((least, { due }) => Math.min(least, due), Number.POSITIVE_INFINITY));
    // Storage that takes no write now would be asked without a pause: its runs are still due.
    arm(steady() + again_ms);
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
    stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}
