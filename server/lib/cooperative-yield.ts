const slice_ms = 4;
// Work that has taken less than this so far is short: even many pieces of it in one turn do not take long.
const short_ms = 1;

// Start of the long work in this turn of the event loop; null before it. Waiting work resumes in a later turn.
let sliceStart: number | null = null;
const waiting: (() => void)[] = [];

/**
 * Returns `rest` for work on a thread that serves others: it yields to the event loop once long work has taken a slice,
 * and returns at once otherwise. All long work of a thread shares one slice and waits in line. Short work does not
 * wait, because it would otherwise wait a slice of the long work at each rest. `onReturn` runs after each wait, and may
 * throw.
 */
export function createYielder(onReturn: () => void = () => {}): () => Promise<void> {
  sliceStart ??= begin();
  let [worked_ms, since] = [0, performance.now()];
  return async () => {
    sliceStart ??= begin();
    const at = performance.now();
    worked_ms += at - since;
    since = at;
    if (worked_ms < short_ms || at - sliceStart < slice_ms) return;
    await new Promise<void>((resume) => waiting.push(resume));
    onReturn();
    since = performance.now();
  };
}

/** True if synchronous long work may go on now. Otherwise calls `goOn` once it may. */
export function canContinue(goOn: () => void): boolean {
  sliceStart ??= begin();
  if (performance.now() - sliceStart < slice_ms) return true;
  waiting.push(goOn);
  return false;
}

/** Resolves once no long work has a slice, for a test that counts the turns of the event loop from there. */
export async function endOfSlice(): Promise<void> {
  while (sliceStart !== null) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Resets the slice, for a test whose event loop is gone with all that waited in it. */
export function resetSlice(): void {
  sliceStart = null;
  waiting.length = 0;
}

function begin(): number {
  setImmediate(next);
  return performance.now();
}

function next(): void {
  sliceStart = null;
  const resume = waiting.shift();
  if (!resume) return;
  sliceStart = begin();
  resume();
}
