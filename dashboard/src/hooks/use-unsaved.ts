import { useEffect, useRef, useSyncExternalStore } from "react";

/** Forms with unsaved changes. */
const unsavedForms = new Set<symbol>();
const listeners = new Set<() => void>();
let resolveQuestion: ((leave: boolean) => void) | null = null;

/** Marks a form as having unsaved changes, so that leaving asks first. Changes that are being saved do not count. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const form = Symbol();
    unsavedForms.add(form);
    notify();
    return () => {
      unsavedForms.delete(form);
      notify();
    };
  }, [isUnsaved]);
}

/** True if any form has unsaved changes. */
export const useHasUnsaved = (): boolean => useSyncExternalStore(subscribe, () => unsavedForms.size > 0);

/** True if the page may be left: nothing is unsaved, or the person confirmed. */
export async function mayLeave(): Promise<boolean> {
  return unsavedForms.size === 0 || (await askToLeave());
}

/** Asks whether unsaved changes may be discarded. A later question replaces an open one. */
export function askToLeave(): Promise<boolean> {
  answerQuestion(false);
  return new Promise((resolve) => {
    resolveQuestion = resolve;
    notify();
  });
}

/** Answers the open question, if any. */
export function answerQuestion(leave: boolean): void {
  resolveQuestion?.(leave);
  resolveQuestion = null;
  notify();
}

/** True if the question is shown here: above the innermost dialog with unsaved changes, otherwise above the page. */
export function useLeaveQuestion(above: "page" | "dialog"): boolean {
  const self = useRef(Symbol()).current;
  useEffect(() => {
    if (above === "page") questionPlaces.unshift(self);
    else questionPlaces.push(self);
    notify();
    return () => {
      // The form of the question is gone.
      if (questionPlaces.at(-1) === self) answerQuestion(false);
      questionPlaces.splice(questionPlaces.indexOf(self), 1);
      notify();
    };
  }, [above, self]);
  return useSyncExternalStore(subscribe, () => resolveQuestion !== null && questionPlaces.at(-1) === self);
}

/** Places that can show the question, innermost last. */
const questionPlaces: symbol[] = [];

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}
