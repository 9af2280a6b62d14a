import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import type { FormState } from "../../hooks/use-form.ts";
import { useUnsaved } from "../../hooks/use-unsaved.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";

/** Form state with optional parts: a form that is not sent is never pending. */
export type AnyForm = Pick<FormState, "submit"> & Partial<FormState>;

/**
 * Base of every form: asks before unsaved changes are lost, and focuses the first invalid field before or after
 * sending. ⌘↵ sends it.
 */
export function Form({
  form: { isPending = false, isUnsaved = false, failure, submit },
  ready = true,
  className = "flex flex-col gap-4",
  children,
}: {
  form: AnyForm;
  /** True if there is something to send. */
  ready?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const element = useRef<HTMLFormElement>(null);
  useUnsaved(isUnsaved);
  useEffect(() => {
    if (failure) focusFirstError(element.current);
  }, [failure]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    // React events of a dialog bubble to the form that contains it in the React tree.
    event.stopPropagation();
    if (ready && !isPending && !submit()) focusFirstError(element.current);
  };
  return (
    <form ref={element} noValidate onSubmit={send} onKeyDown={sendOnEnter} className={className}>
      {children}
    </form>
  );
}

/** Focuses the first invalid field after rendering. */
function focusFirstError(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}
