/**
 * Calls back when one of the signals is aborted, at once if one is already; until the answer is called. Unlike
 * `AbortSignal.any`, nothing of it stays with a signal that lives as long as the process.
 */
export function untilAborted(signals: readonly AbortSignal[], callback: () => void): () => void {
  for (const signal of signals) signal.addEventListener("abort", callback);
  if (signals.some(({ aborted }) => aborted)) callback();
  return () => {
    for (const signal of signals) signal.removeEventListener("abort", callback);
  };
}
