import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

/** Reads a stored preference; null if storage is blocked. */
export function readPreference(key: string): string | null {
  try {
    return window.localStorage.getItem(`runnel.${key}`);
  } catch {
    return null;
  }
}

/** Stores a preference and notifies its readers. */
export function writePreference(key: string, value: string): void {
  try {
    window.localStorage.setItem(`runnel.${key}`, value);
  } catch {
    // Storage is blocked or full: the preference lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** A preference with fixed choices, stored in this browser and shared by all tabs. */
export function usePreference<T extends string>(
  key: string,
  choices: readonly T[],
  fallback: T,
): [T, (value: T) => void] {
  const value = useSyncExternalStore(subscribePreferences, () => readPreference(key));
  const known = choices.find((choice) => choice === value) ?? fallback;
  return [known, (next) => writePreference(key, next)];
}

/** A text preference, stored in this browser and shared by all tabs. */
export function usePreferenceText(key: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribePreferences, () => readPreference(key));
  return [value ?? fallback, (next) => writePreference(key, next)];
}

/** Subscribes to changes of preferences in all tabs. */
function subscribePreferences(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}
