/** Abort signals by name, for long-lived work such as open streams; `all` aborts every one of them. */
export function createKeyedAbortSignals(all: AbortSignal) {
  const known = new Map<string, AbortController>();
  all.addEventListener("abort", () => {
    for (const one of known.values()) one.abort();
  });

  function of(name: string): AbortController {
    const one = known.get(name) ?? new AbortController();
    known.set(name, one);
    if (all.aborted) one.abort();
    return one;
  }

  return {
    signal: (name: string): AbortSignal => of(name).signal,
    /** Aborts the work of this name, also work that begins later. */
    end: (name: string): void => of(name).abort(),
    /** Lets new work of this name run again. */
    renew(name: string): void {
      if (known.get(name)?.signal.aborted) known.delete(name); // A signal that was not aborted must stay, so that it can still end its work.
    },
  };
}
