import { useSyncExternalStore } from "react";

const retry_ms = 2000;
const listeners = new Set<() => void>();
let lost = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** A request got no answer at all: from now on the server is asked until it answers. */
export function reportLost(): void {
  if (lost) return;
  set(true);
  timer = setTimeout(askAgain, retry_ms);
}

/** Asks the server whether it is there, now and then until it is. */
export async function askAgain(): Promise<void> {
  clearTimeout(timer);
  if (await responds()) set(false);
  else if (lost) timer = setTimeout(askAgain, retry_ms);
}

/** Whether the server responds at this moment. */
export async function responds(): Promise<boolean> {
  const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
  return answer?.ok === true;
}

/** Resolves once the server is no longer lost. */
export function whenBack(): Promise<void> {
  return new Promise((resolve) => {
    if (!lost) return resolve();
    const stop = subscribe(() => {
      stop();
      resolve();
    });
  });
}

/** Whether the server cannot be reached. */
export function useLost(): boolean {
  return useSyncExternalStore(subscribe, () => lost);
}

function set(value: boolean): void {
  lost = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
