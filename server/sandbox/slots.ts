/** So many at a time, the others in the order in which they came. `take` gives the function that gives back. */
export function slots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  /** Also given back twice it counts once. */
  const once = () => {
    let given = false;
    return () => {
      if (!given) release();
      given = true;
    };
  };
  return {
    async take(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return once();
      }
      const turn = Promise.withResolvers<void>();
      const leave = () => {
        const at = waiting.indexOf(turn.resolve);
        if (at >= 0) waiting.splice(at, 1);
        turn.reject(signal.reason);
      };
      waiting.push(turn.resolve);
      signal.addEventListener("abort", leave);
      try {
        await turn.promise;
      } finally {
        signal.removeEventListener("abort", leave);
      }
      return once();
    },
  };
}
