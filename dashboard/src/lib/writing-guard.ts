/**
 * Keeps typing from triggering actions. If a field disappears or loses the focus while a person types in it, the
 * following keys are ignored elsewhere, until a pointer press or a key that writes nothing.
 */
export function guardWriting(): void {
  let isWriting = false;
  const onKeyDown = (event: KeyboardEvent) => {
    if (modifiers.includes(event.key)) return;
    if (isTextField(event.composedPath()[0])) isWriting = !leavesField(event);
    else if (!isWriting) return;
    else if (writes(event)) stop(event);
    else isWriting = false;
  };
  // A browser may press a button on keyup of the space bar.
  const onKeyUp = (event: KeyboardEvent) => {
    if (isWriting && writes(event) && !isTextField(event.composedPath()[0])) stop(event);
  };
  const onPointerDown = () => {
    isWriting = false;
  };
  window.addEventListener("keydown", onKeyDown, true);
  window.addEventListener("keyup", onKeyUp, true);
  window.addEventListener("pointerdown", onPointerDown, true);
}

const modifiers = ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"];

/** True if a key changes or sends a text. */
function writes({ key, metaKey, ctrlKey, altKey, isComposing }: KeyboardEvent): boolean {
  if (key === "Enter" || isComposing) return true;
  const isChord = (metaKey || ctrlKey) && !altKey;
  return !isChord && (key.length === 1 || ["Backspace", "Delete", "Dead", "Process"].includes(key));
}

/** True if a key ends typing in a field: it moves on, closes or submits. */
function leavesField({ key, metaKey, ctrlKey, isComposing, target }: KeyboardEvent): boolean {
  if (key === "Enter") return !isComposing && (metaKey || ctrlKey || target instanceof HTMLInputElement);
  return key === "Tab" || key === "Escape";
}

const textless = ["checkbox", "radio", "range", "button", "submit", "reset", "file", "color", "image"];

function isTextField(target: EventTarget | undefined): boolean {
  if (target instanceof HTMLInputElement) return !textless.includes(target.type);
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable);
}

function stop(event: KeyboardEvent): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}
