import { useEffect, useRef } from "react";
import { readPreference } from "../lib/local-storage.ts";

/** Handlers by key: `"c"`, `"Escape"`, `"["`. A sequence is written with a space: `"g r"`. */
type Keys = Record<string, (event: KeyboardEvent) => void>;

const sequence_ms = 1000;
/** Keys that may repeat: they only move. A held `a` would approve the next call unseen. */
const repeatableKeys = ["j", "k", "n", "p", ",", "."];
/** First key of every sequence; it has no handler of its own. */
const leader = "g";

/** Labels of keys by key, for the command menu. */
type KeyLabels = Record<string, string>;

/** Handlers of all mounted components, innermost last. */
const activeHandlers: { current: Keys; labels?: KeyLabels }[] = [];
let awaitedKey: string | null = null;

/** Binds single keys of a page. Inactive while typing, under a dialog, with ⌘, Ctrl or Alt, and if turned off. */
export function useKeys(keys: Keys, active = true, labels?: KeyLabels): void {
  const handlers = useRef<(typeof activeHandlers)[number]>({ current: keys });
  const latest = handlers.current;
  latest.current = keys;
  latest.labels = labels;
  useEffect(() => {
    if (!active) return;
    let before = { key: "", at: 0 };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.length === 1 && readPreference("keys") === "off") return; // The setting under Account.
      if (event.repeat && event.key.length === 1 && !repeatableKeys.includes(event.key)) return;
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || shouldIgnoreKey(event.target))
        return;
      const follows = before.key === leader && event.timeStamp - before.at < sequence_ms;
      before = { key: event.key, at: event.timeStamp };
      const act = latest.current[follows ? `${leader} ${event.key}` : event.key];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    document.addEventListener("keydown", onKey);
    activeHandlers.push(latest);
    if (awaitedKey && latest.current[awaitedKey]) {
      runKeyHandler(awaitedKey);
      cancelAwaitedKey();
    }
    return () => {
      document.removeEventListener("keydown", onKey);
      activeHandlers.splice(activeHandlers.indexOf(latest), 1);
    };
  }, [active, latest]);
}

/** Runs the handler of a key without a key press. */
export function runKeyHandler(key: string): void {
  activeHandlers.findLast(({ current }) => current[key])?.current[key]?.(new KeyboardEvent("keydown", { key }));
}

/** Events that cancel a waiting key. Captured, so that the current event has already passed. */
const cancelEvents = ["keydown", "pointerdown", "popstate"];

/** Runs a key's handler as soon as the page being opened has it, unless the person does something before. */
export function awaitKey(key: string): void {
  awaitedKey = key;
  for (const end of cancelEvents) window.addEventListener(end, cancelAwaitedKey, { capture: true });
}

function cancelAwaitedKey(event?: Event): void {
  if (event instanceof KeyboardEvent && event.repeat) return; // Repeats of an earlier key press do not count.
  awaitedKey = null;
  for (const end of cancelEvents) window.removeEventListener(end, cancelAwaitedKey, { capture: true });
}

/** True if the page has a handler for the key. */
export function hasKey(key: string): boolean {
  return activeHandlers.some(({ current }) => current[key]);
}

/** Returns what a key does on this page now; undefined if it always does the same. */
export const labelOfKey = (key: string): string | undefined =>
  activeHandlers.findLast(({ current }) => current[key])?.labels?.[key];

/** True if a dialog is open. Toasts have the same role but do not count. */
export function hasDialog(): boolean {
  return document.querySelector("dialog[open],[role=dialog][data-open],[role=alertdialog][data-open]") !== null;
}

/**
 * True if the page should ignore keys: a dialog is open, or the focused element uses keys, such as a field or a menu.
 */
export function shouldIgnoreKey(target: EventTarget | null): boolean {
  if (hasDialog()) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest("[role=dialog],[role=alertdialog],[role=menu],[role=listbox]") !== null
  );
}
