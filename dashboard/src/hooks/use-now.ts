import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** Current time, updated every second by one timer for the whole page. With `false` it stays constant without cost. */
export function useNow(running = true): number {
  return useSyncExternalStore(running ? subscribe : noSubscription, () => now);
}

/** Current UTC day, such as `2026-11-21`. Renders only at midnight. */
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

function noSubscription(): () => void {
  return () => {};
}
