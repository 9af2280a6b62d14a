import { useSyncExternalStore } from "react";

const retry_ms = 2000;
const listeners = new Set<() => void>();
let isConnectionLost = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Marks the server as unreachable and starts polling until it responds. */
export function reportConnectionLost(): void {
  if (isConnectionLost) return;
  setConnectionLost(true);
  timer = setTimeout(retryConnection, retry_ms);
}

/** Polls the server until it responds. */
export async function retryConnection(): Promise<void> {
  clearTimeout(timer);
  if (await isServerUp()) setConnectionLost(false);
  else if (isConnectionLost) timer = setTimeout(retryConnection, retry_ms);
}

/** Returns true if the server responds now. */
export async function isServerUp(): Promise<boolean> {
  const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
  return answer?.ok === true;
}

/** Resolves once the server is reachable. */
export function waitForConnection(): Promise<void> {
  return new Promise((resolve) => {
    if (!isConnectionLost) return resolve();
    const stop = subscribe(() => {
      stop();
      resolve();
    });
  });
}

/** True while the server is unreachable. */
export function useIsConnectionLost(): boolean {
  return useSyncExternalStore(subscribe, () => isConnectionLost);
}

function setConnectionLost(value: boolean): void {
  isConnectionLost = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
