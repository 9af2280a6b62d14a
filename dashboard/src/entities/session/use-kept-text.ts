import { useRef, useState } from "react";
import { readSessionValue, writeSessionValue } from "../../lib/session-storage.ts";
import { useSessionUser } from "./use-may.ts";

/** State of a text that survives navigation and reload until it is sent. */
export function useDraftText(name: string, begun = "") {
  const storageKey = usePersonalStorageKey(name);
  const [text, setText] = useState(() => readSessionValue(storageKey) ?? begun);
  const latest = useRef(text);
  const write = (next: string | ((now: string) => string)): void => {
    latest.current = typeof next === "string" ? next : next(latest.current);
    // Write immediately, so that a text that was sent does not reappear after navigation.
    writeSessionValue(storageKey, latest.current === begun ? null : latest.current);
    setText(latest.current);
  };
  return [text, write] as const;
}

/** Storage key scoped to the signed-in person, so that the next person in this tab cannot read the value. */
export function usePersonalStorageKey(name: string): string {
  return `${useSessionUser()?.id ?? ""}.${name}`;
}
