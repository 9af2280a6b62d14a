import { useEffect, useRef } from "react";
import { readPreference } from "../../lib/preference.ts";
import { isTaken } from "../../lib/use-keys.ts";

/** The space bar does this, unless it presses what has the focus. */
export function useSpace(act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target, repeat, defaultPrevented, metaKey, ctrlKey, altKey } = event;
      if (key !== " " || repeat || defaultPrevented || metaKey || ctrlKey || altKey) return;
      if (readPreference("keys") === "off" || isPressed(target)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Buttons, links and boxes take the space bar for themselves; the scrubber does not. */
function isPressed(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "range";
  return isTaken(target) || target.closest("button,a,summary,[role=tab]") !== null;
}
