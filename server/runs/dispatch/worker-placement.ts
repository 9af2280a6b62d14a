/** Work on a thread, with its owner. */
export interface WorkerLoad<Thread> {
  owner: string;
  thread: Thread;
}

/**
 * Returns the worker with the least load of other owners, then of this owner. An owner uses at most `most` workers, so
 * that another owner finds one free of its long work. Returns null if a new worker is needed.
 */
export function chooseWorker<Thread>(
  owner: string,
  threads: Iterable<Thread>,
  loads: Iterable<WorkerLoad<Thread>>,
  most: number,
): Thread | null {
  const load = new Map([...threads].map((thread) => [thread, { own: 0, others: 0 }]));
  for (const one of loads) {
    const on = load.get(one.thread);
    if (on) on[one.owner === owner ? "own" : "others"]++;
  }
  const ownWorkers = [...load].filter(([, { own }]) => own > 0);
  const candidates = ownWorkers.length >= most ? ownWorkers : [...load];
  if (candidates.length === 0) return null;
  const [best, { others }] = candidates.reduce((a, b) =>
    (b[1].others - a[1].others || b[1].own - a[1].own) < 0 ? b : a,
  );
  return others > 0 && load.size <= most && candidates !== ownWorkers ? null : best;
}
