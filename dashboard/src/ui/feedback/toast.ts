import { visibleText } from "../../lib/visible-text.ts";

/** A toast: the result of an action, shown for some seconds. */
export interface ToastMessage {
  title: string;
  description?: string;
  /** In milliseconds. */
  timeout: number;
  priority?: "high";
  type?: "failed";
}

/** Toasts raised before the container was mounted. */
let queuedToasts: ToastMessage[] = [];
let listener: ((message: ToastMessage) => void) | undefined;

/** Shows a success for some seconds, named after the action: “Key created”. */
export function toast(title: string, description?: string): void {
  showToast({ title, description, timeout: 6000 });
}

/** Shows a failure and its reason. */
export function toastFailure(title: string, description?: string): void {
  showToast({ title, description, timeout: 12_000, priority: "high", type: "failed" });
}

function showToast({ title, description, ...rest }: ToastMessage): void {
  // The toast library's elements bypass our JSX runtime.
  const message = { ...rest, title: visibleText(title), description: description && visibleText(description) };
  if (listener) listener(message);
  else queuedToasts.push(message);
}

/** Registers the toast container and delivers earlier toasts. Returns a function that unregisters it. */
export function onToast(show: (said: ToastMessage) => void): () => void {
  listener = show;
  for (const each of queuedToasts) show(each);
  queuedToasts = [];
  return () => {
    listener = undefined;
  };
}
