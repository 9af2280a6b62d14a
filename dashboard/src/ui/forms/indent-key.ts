import type { KeyboardEvent } from "react";

/** Text areas in which Escape was pressed: there, the next Tab leaves the field. */
const leaving = new WeakSet<HTMLTextAreaElement>();

/** In a code editor, Tab indents and Shift+Tab outdents; after Escape, Tab leaves the field. */
export function indentKey(event: KeyboardEvent<HTMLTextAreaElement>, onText: (text: string) => void): void {
  const editor = event.currentTarget;
  if (event.key === "Escape") leaving.add(editor);
  else if (event.key !== "Tab") leaving.delete(editor);
  else if (!leaving.delete(editor) && !event.altKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const { value, selectionStart: at, selectionEnd: end } = editor;
    const line = value.lastIndexOf("\n", at - 1) + 1;
    const isBack = event.shiftKey;
    if (isBack && !value.startsWith("  ", line)) return;
    const next = isBack ? value.slice(0, line) + value.slice(line + 2) : `${value.slice(0, at)}  ${value.slice(end)}`;
    onText(next);
    const caret = isBack ? Math.max(at - 2, line) : at + 2;
    requestAnimationFrame(() => editor.setSelectionRange(caret, caret));
  }
}
