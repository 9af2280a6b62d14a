/** A job that is done in pieces. */
interface Job<Result> {
  /** Owner of the job: round robin over owners, and over the stores of each. */
  owner: string;
  /** One job at a time runs per store. */
  store: number;
  work: Generator<void, Result>;
  done(result: Result): void;
  failed(error: unknown): void;
}

interface Queue<Result> {
  add(id: number, job: Job<Result>): void;
  /** Forgets a job: neither `done` nor `failed` is called. */
  drop(id: number): void;
}

type Jobs<Result> = Map<number, Job<Result>>;

/** Does jobs round robin over owners, one piece at a time; messages that arrive are handled in between. */
export function createQueue<Result>(later: (next: () => void) => void = setImmediate): Queue<Result> {
  const owners = new Map<string, Map<number, Jobs<Result>>>();
  let awake = false;

  function wake(): void {
    if (awake) return;
    awake = true;
    later(step);
  }

  function step(): void {
    awake = false;
    const first = takeFirst(owners);
    const second = first && takeFirst(first[1]);
    if (!first || !second) return;
    const [[owner, stores], [store, jobs]] = [first, second];
    const [current] = jobs;
    if (current && isOver(current[1])) jobs.delete(current[0]);
    // Move it to the end of the order.
    if (jobs.size > 0) stores.set(store, jobs);
    if (stores.size > 0) owners.set(owner, stores);
    if (owners.size > 0) wake();
  }

  return {
    add(id, job) {
      const stores = owners.get(job.owner) ?? new Map<number, Jobs<Result>>();
      const jobs = stores.get(job.store) ?? new Map<number, Job<Result>>();
      owners.set(job.owner, stores.set(job.store, jobs.set(id, job)));
      wake();
    },
    drop(id) {
      for (const [owner, stores] of owners)
        for (const [store, jobs] of stores) {
          if (!jobs.delete(id) || jobs.size > 0) continue;
          stores.delete(store);
          if (stores.size === 0) owners.delete(owner);
        }
    },
  };
}

function takeFirst<Key, Value>(map: Map<Key, Value>): [Key, Value] | undefined {
  const [first] = map;
  if (first) map.delete(first[0]);
  return first;
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
