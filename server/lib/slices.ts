const slice_ms = 4;

// Of this turn of the event loop: when long work began in it. Who waits goes on in a later one.
let begun: number | null = null;
const waiting: (() => void)[] = [];

/**
 * For long work on a thread that serves others: `rest` lets everybody else go first when long work has gone on for a
 * while, and returns at once else. All long work of a thread shares one slice: what waits goes on one after the other.
 * `onReturn` runs whenever it does, and may throw.
 */
export function inSlices(onReturn: () => void = () => {}): () => Promise<void> {
  begun ??= begin();
  return async () => {
    begun ??= begin();
    if (performance.now() - begun < slice_ms) return;
    await new Promise<void>((resume) => waiting.push(resume));
    onReturn();
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
