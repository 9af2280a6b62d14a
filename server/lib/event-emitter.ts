/** Event of one module that others subscribe to. */
export function createEventEmitter<Told extends unknown[] = []>() {
  const listeners: ((...told: Told) => void)[] = [];
  return {
    /** Notifies the listeners in the order of their subscription. */
    tell(...told: Told): void {
      for (const listener of listeners) listener(...told);
    },
    listen(hear: (...told: Told) => void): void {
      listeners.push(hear);
    },
  };
}
