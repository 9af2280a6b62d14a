import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

/** Reads a remembered choice; null where storage is forbidden. */
export function readPreference(key: string): string | null {
  try {
    return window.localStorage.getItem(`runnel.${key}`);
  } catch {
    return null;
  }
}

/** Remembers a choice and tells every component that reads it. */
export function writePreference(key: string, value: string): void {
  try {
    window.localStorage.setItem(`runnel.${key}`, value);
  } catch {
    // Storage is forbidden or full: the choice holds until the page is left.
  }
  for (const listener of listeners) listener();
}

/** A choice remembered in this browser, the same for all pages and tabs. */
export function usePreference<T extends string>(
  key: string,
  choices: readonly T[],
  fallback: T,
): [T, (value: T) => void] {
  const value = useSyncExternalStore(subscribePreferences, () => readPreference(key));
  const known = choices.find((choice) => choice === value) ?? fallback;
  return [known, (next) => writePreference(key, next)];
}

/** A text remembered in this browser, the same for all pages and tabs. */
export function usePreferenceText(key: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribePreferences, () => readPreference(key));
  return [value ?? fallback, (next) => writePreference(key, next)];
}

/** Calls the listener after every change of a preference, in this tab or another. */
function subscribePreferences(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}
