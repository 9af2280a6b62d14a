/**
 * Calls back when one of the signals aborts, or at once if one already is; returns a function that unsubscribes. Unlike
 * `AbortSignal.any`, it leaves nothing at a signal that lives as long as the process.
 */
export function onAbort(signals: readonly AbortSignal[], callback: () => void): () => void {
  for (const signal of signals) signal.addEventListener("abort", callback);
  if (signals.some(({ aborted }) => aborted)) callback();
  return () => {
    for (const signal of signals) signal.removeEventListener("abort", callback);
  };
}

/** Returns the outcome of the work, or rejects with the signal's reason. An abort ends this wait, but not the work. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const release = onAbort([signal], () => reject(signal.reason));
  work.then(resolve, reject).finally(release);
  return promise;
}
