/** Signals that end what lasts, such as open streams: of one name, or of all at once. */
export function createNamedSignals(all: AbortSignal) {
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
    /** Ends what lasts now, and at once what begins from now on. */
    end: (name: string): void => of(name).abort(),
    /** What begins from now on lasts again. */
    renew(name: string): void {
      if (known.get(name)?.signal.aborted) known.delete(name); // Any other one is still to end what it was given to.
    },
  };
}
