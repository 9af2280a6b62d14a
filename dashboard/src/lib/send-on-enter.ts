import type { KeyboardEvent } from "react";

/**
 * Submits the focused form on ⌘↵ or Ctrl ↵, even from a text area. Ignores key repeats, because the next focused form
 * is another question.
 */
export function sendOnEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === "Enter" && (event.metaKey || event.ctrlKey) && !event.repeat) event.currentTarget.requestSubmit();
}
