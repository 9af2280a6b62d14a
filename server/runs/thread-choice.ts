import type { Thread } from "./threads.ts";

/** Work on a thread, and whose it is. */
export interface Placed {
  owner: string;
  thread: Thread;
}

/**
 * Where an owner's next work goes: to the thread with the least work of others, and then of its own. One owner has at most
 * `most` of them, so that whoever comes beside it finds one on which nobody else's long work is. Null: to a new thread.
 */
export function chooseThread(
  owner: string,
  threads: Iterable<Thread>,
  placed: Iterable<Placed>,
  most: number,
): Thread | null {
  const load = new Map([...threads].map((thread) => [thread, { own: 0, others: 0 }]));
  for (const one of placed) {
    const on = load.get(one.thread);
    if (on) on[one.owner === owner ? "own" : "others"]++;
  }
  const mine = [...load].filter(([, { own }]) => own > 0);
  const open = mine.length >= most ? mine : [...load];
  if (open.length === 0) return null;
  const [best, { others }] = open.reduce((a, b) => ((b[1].others - a[1].others || b[1].own - a[1].own) < 0 ? b : a));
  return others > 0 && load.size <= most && open !== mine ? null : best;
}
