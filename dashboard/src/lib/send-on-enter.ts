import type { KeyboardEvent } from "react";

/**
 * ⌘↵ and Ctrl ↵ send the form that has the focus, from a text of several lines too. Held, they send it once: the next
 * form that gets the focus is another question.
 */
export function sendOnEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === "Enter" && (event.metaKey || event.ctrlKey) && !event.repeat) event.currentTarget.requestSubmit();
}
