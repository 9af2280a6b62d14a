import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** The time, one second at a time, from one timer for the whole page. With `false` it stands still and costs nothing. */
export function useNow(running = true): number {
  return useSyncExternalStore(running ? subscribe : never, () => now);
}

/** The day in UTC, such as `2026-11-21`. It changes at midnight and at no other time. */
export const useToday = (): string => useSyncExternalStore(subscribe, () => new Date(now).toISOString().slice(0, 10));

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= setInterval(tick, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

function never(): () => void {
  return () => {};
}
