import { useEffect, useRef, useSyncExternalStore } from "react";

/** The forms that hold what nobody has saved. */
const forms = new Set<symbol>();
const listeners = new Set<() => void>();
let answer: ((leave: boolean) => void) | null = null;

/**
 * Says that a form holds what is not saved: whoever leaves it is asked first. What is just being saved is not lost, and
 * so does not count.
 */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const form = Symbol();
    forms.add(form);
    tell();
    return () => {
      forms.delete(form);
      tell();
    };
  }, [isUnsaved]);
}

/** Whether any form holds what is not saved. */
export const useHasUnsaved = (): boolean => useSyncExternalStore(subscribe, () => forms.size > 0);

/** Whether the page may be left: at once where all is saved, else once somebody said so. */
export async function mayLeave(): Promise<boolean> {
  return forms.size === 0 || (await askToLeave());
}

/** Asks whether what stands in a form may be lost. A later question takes the place of an open one. */
export function askToLeave(): Promise<boolean> {
  answerQuestion(false);
  return new Promise((resolve) => {
    answer = resolve;
    tell();
  });
}

/** Answers what is asked; nothing where nothing is. */
export function answerQuestion(leave: boolean): void {
  answer?.(leave);
  answer = null;
  tell();
}

/** Whether it is asked here: above the innermost dialog that could lose something, else above the page. */
export function useLeaveQuestion(above: "page" | "dialog"): boolean {
  const self = useRef(Symbol()).current;
  useEffect(() => {
    if (above === "page") askers.unshift(self);
    else askers.push(self);
    tell();
    return () => {
      // What it asked about is gone.
      if (askers.at(-1) === self) answerQuestion(false);
      askers.splice(askers.indexOf(self), 1);
      tell();
    };
  }, [above, self]);
  return useSyncExternalStore(subscribe, () => answer !== null && askers.at(-1) === self);
}

/** Where it can be asked, the innermost last. */
const askers: symbol[] = [];

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}
