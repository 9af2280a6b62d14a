import type { FromWorker } from "./messages.ts";

/**
 * Batches items per tick, in order, because each message to another thread has a cost. `patient` items wait up to
 * `pace_ms` since the last flush; any other item flushes them. `defer` schedules the end of the tick; `flush` sends at
 * once.
 */
export function createMessageBatcher<T>(
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
    if (items.length === 0) return; // They were flushed meanwhile.
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

/**
 * Merges the deltas of concurrent runs into messages 3 ms apart, a delay that no reader notices; the first delta of an
 * answer is sent at once.
 */
export const deltaPace = {
  patient: (notice: FromWorker) => notice.do === "said" || (notice.do === "delta" && !notice.first),
  pace_ms: 3,
};
