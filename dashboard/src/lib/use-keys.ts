import { useEffect, useRef } from "react";
import { readPreference } from "./preference.ts";

/** What is done by each key: `"c"`, `"Escape"`, `"["`. Two in a row are one name with a space: `"g r"`. */
type Keys = Record<string, (event: KeyboardEvent) => void>;

const sequence_ms = 1000;
/** Keys that may be held: they move, and decide nothing. A held `a` would approve the next call unseen. */
const held = ["j", "k", "n", "p", ",", "."];
/** The key that begins every sequence: what follows it is never a key of its own. */
const leader = "g";

/** Those of all that is mounted, the innermost last. */
const mounted: { current: Keys }[] = [];
let wanted: string | null = null;

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
    if (wanted && latest.current[wanted]) {
      actOnKey(wanted);
      forget();
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

/** What shows that somebody does something else meanwhile. Caught early: what is pressed now has passed there already. */
const ends = ["keydown", "pointerdown", "popstate"];

/** Does what a key does on the page that is being opened, as soon as that is there, unless something is pressed before. */
export function awaitKey(key: string): void {
  wanted = key;
  for (const end of ends) window.addEventListener(end, forget, { capture: true });
}

function forget(event?: Event): void {
  if (event instanceof KeyboardEvent && event.repeat) return; // Of what was pressed before.
  wanted = null;
  for (const end of ends) window.removeEventListener(end, forget, { capture: true });
}

/** Whether something on this page has this key. */
export function hasKey(key: string): boolean {
  return mounted.some(({ current }) => current[key]);
}

/** Whether a dialog lies over the page. Toasts have the same role, and lie beside it. */
export function hasDialog(): boolean {
  return document.querySelector("dialog[open],[role=dialog][data-open],[role=alertdialog][data-open]") !== null;
}

/** Whether a key is not the page's: a dialog lies over it, or what has the focus takes keys, as a field or a menu does. */
export function isTaken(target: EventTarget | null): boolean {
  if (hasDialog()) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest("[role=dialog],[role=alertdialog],[role=menu],[role=listbox]") !== null
  );
}
