const slice_ms = 4;
// What has taken less so far is short: so little that much of it in one turn is not long either.
const short_ms = 1;

// Of this turn of the event loop: when long work began in it. Who waits goes on in a later one.
let begun: number | null = null;
const waiting: (() => void)[] = [];

/**
 * For work on a thread that serves others: `rest` lets everybody else go first when long work has gone on for a while, and
 * returns at once else. All long work of a thread shares one slice: what waits goes on one after the other. Short work
 * does not wait: beside long work it would else wait at each rest for a slice of another.
 * `onReturn` runs whenever it has waited, and may throw.
 */
export function inSlices(onReturn: () => void = () => {}): () => Promise<void> {
  begun ??= begin();
  let [worked_ms, since] = [0, performance.now()];
  return async () => {
    begun ??= begin();
    const at = performance.now();
    worked_ms += at - since;
    since = at;
    if (worked_ms < short_ms || at - begun < slice_ms) return;
    await new Promise<void>((resume) => waiting.push(resume));
    onReturn();
    since = performance.now();
  };
}

/** The same for who cannot wait: whether long work may go on now. Where it may not, `goOn` is called once it may. */
export function mayGoOn(goOn: () => void): boolean {
  begun ??= begin();
  if (performance.now() - begun < slice_ms) return true;
  waiting.push(goOn);
  return false;
}

/** For a test whose event loop, with whoever waits in it, is gone. */
export function forgetSlice(): void {
  begun = null;
  waiting.length = 0;
}

function begin(): number {
  setImmediate(next);
  return performance.now();
}

function next(): void {
  begun = null;
  const resume = waiting.shift();
  if (!resume) return;
  begun = begin();
  resume();
}
