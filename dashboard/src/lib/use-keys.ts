import { useEffect, useRef } from "react";
import { readPreference } from "./preference.ts";

/** What is done by each key: `"c"`, `"Escape"`, `"["`. Two in a row are one name with a space: `"g r"`. */
type Keys = Record<string, (event: KeyboardEvent) => void>;

const sequence_ms = 1000;
const patience_ms = 5000;
/** Keys that may be held: they move, and decide nothing. A held `a` would approve the next call unseen. */
const held = ["j", "k", "n", "p", ",", "."];
/** The key that begins every sequence: what follows it is never a key of its own. */
const leader = "g";

/** Those of all that is mounted, the innermost last. */
const mounted: { current: Keys }[] = [];
let wanted: { key: string; until: number } | null = null;

/** Single keys of a page. They rest while somebody types, while a dialog is open, beside ⌘, Ctrl and Alt, and where they are off. */
export function useKeys(keys: Keys, active = true): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (!active) return;
    let before = { key: "", at: 0 };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.length === 1 && readPreference("keys") === "off") return; // As chosen under Account.
      if (event.repeat && event.key.length === 1 && !held.includes(event.key)) return;
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTaken(event.target)) return;
      const follows = before.key === leader && event.timeStamp - before.at < sequence_ms;
      before = { key: event.key, at: event.timeStamp };
      const act = latest.current[follows ? `${leader} ${event.key}` : event.key];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    document.addEventListener("keydown", onKey);
    mounted.push(latest);
    if (wanted && latest.current[wanted.key]) {
      if (Date.now() < wanted.until) actOnKey(wanted.key);
      wanted = null;
    }
    return () => {
      document.removeEventListener("keydown", onKey);
      mounted.splice(mounted.indexOf(latest), 1);
    };
  }, [active]);
}

/** Does what a key of this page does, without its being pressed. */
export function actOnKey(key: string): void {
  mounted.findLast(({ current }) => current[key])?.current[key]?.(new KeyboardEvent("keydown", { key }));
}

/** Does what a key does on the page that is being opened, as soon as that is there. */
export function awaitKey(key: string): void {
  wanted = { key, until: Date.now() + patience_ms };
}

/** Whether something on this page has this key. */
export function hasKey(key: string): boolean {
  return mounted.some(({ current }) => current[key]);
}

/** Whether a key belongs to what has the focus: a field, an editor, a dialog or a menu. */
export function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest("[role=dialog],[role=alertdialog],[role=menu],[role=listbox]") !== null
  );
}
