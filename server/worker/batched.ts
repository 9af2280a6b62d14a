import type { Notice } from "./messages.ts";

/**
 * Passes items on together, in their order: all of a tick, since a batch costs one crossing. Items that are `patient`
 * go at once when nothing went for `pace_ms`, and are gathered for as long otherwise; one that is not takes them along.
 * `defer` says when a tick is over; `flush` does not wait for that.
 */
export function batched<T>(
  pass: (items: T[]) => void,
  {
    patient = () => false,
    pace_ms = 0,
    defer = setImmediate,
  }: { patient?: (item: T) => boolean; pace_ms?: number; defer?: (pass: () => void) => unknown } = {},
): ((item: T) => void) & { flush(): void } {
  let items: T[] = [];
  let passed = Number.NEGATIVE_INFINITY;
  let timer: Timer | null = null;
  let soon = false;

  function flush(): void {
    if (timer) clearTimeout(timer);
    [timer, soon] = [null, false];
    if (items.length === 0) return; // They were passed on meanwhile.
    passed = performance.now();
    const batch = items;
    items = [];
    pass(batch);
  }

  const send = (item: T): void => {
    items.push(item);
    if (soon) return;
    const wait_ms = patient(item) ? passed + pace_ms - performance.now() : 0;
    if (wait_ms <= 0) {
      soon = true;
      defer(flush);
    } else timer ??= setTimeout(flush, wait_ms);
  };
  return Object.assign(send, { flush });
}

/** Deltas of many runs that stream at once cross together, but for the first of an answer: nobody sees three milliseconds. */
export const deltaPace = {
  patient: (notice: Notice) => notice.do === "said" || (notice.do === "delta" && !notice.first),
  pace_ms: 3,
};
