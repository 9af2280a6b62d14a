/** What happens in one place and matters in others, which say so themselves. */
export function createSignal<Told extends unknown[] = []>() {
  const listeners: ((...told: Told) => void)[] = [];
  return {
    /** In the order in which they began to listen. */
    tell(...told: Told): void {
      for (const hear of listeners) hear(...told);
    },
    listen(hear: (...told: Told) => void): void {
      listeners.push(hear);
    },
  };
}
