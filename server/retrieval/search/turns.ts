/** Work that is done in pieces. */
export interface Job<Result> {
  /** Whose turn it takes: of one owner one job at a time is at work, and owners take turns. */
  owner: number;
  work: Generator<void, Result>;
  done(result: Result): void;
  failed(error: unknown): void;
}

export interface Turns<Result> {
  add(id: number, job: Job<Result>): void;
  /** Forgets a job: neither `done` nor `failed` is called. */
  drop(id: number): void;
}

/** Does jobs of several owners by turns, one piece at a time; what has arrived meanwhile is heard in between. */
export function createTurns<Result>(later: (next: () => void) => void = setImmediate): Turns<Result> {
  const queues = new Map<number, Map<number, Job<Result>>>();
  let awake = false;

  function wake(): void {
    if (awake) return;
    awake = true;
    later(step);
  }

  function step(): void {
    awake = false;
    const [first] = queues;
    if (!first) return;
    const [owner, queue] = first;
    queues.delete(owner);
    const [id, job] = [...queue][0]!;
    if (isOver(job)) queue.delete(id);
    if (queue.size > 0) queues.set(owner, queue); // To the end.
    if (queues.size > 0) wake();
  }

  return {
    add(id, job) {
      const queue = queues.get(job.owner) ?? new Map<number, Job<Result>>();
      queues.set(job.owner, queue.set(id, job));
      wake();
    },
    drop(id) {
      for (const [owner, queue] of queues) if (queue.delete(id) && queue.size === 0) queues.delete(owner);
    },
  };
}

function isOver<Result>({ work, done, failed }: Job<Result>): boolean {
  try {
    const { done: isDone, value } = work.next();
    if (isDone) done(value as Result);
    return isDone === true;
  } catch (error) {
    failed(error);
    return true;
  }
}
