import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { sendOnEnter } from "../lib/send-on-enter.ts";
import type { Sendable } from "../lib/use-form.ts";
import { useUnsaved } from "../lib/use-unsaved.ts";
import { focusFault } from "./focus-fault.ts";

/** A form of which some parts can be left out: what is not sent anywhere is never under way. */
export type AnyForm = Pick<Sendable, "submit"> & Partial<Sendable>;

/**
 * What every form is: whoever leaves what is unsaved is asked first, and where something is wrong, before it is sent or
 * after, the focus goes to the first field that says so. ⌘↵ sends it.
 */
export function Form({
  form: { isPending = false, isUnsaved = false, failure, submit },
  ready = true,
  className = "flex flex-col gap-4",
  children,
}: {
  form: AnyForm;
  /** Whether there is something to send. */
  ready?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const element = useRef<HTMLFormElement>(null);
  useUnsaved(isUnsaved);
  useEffect(() => {
    if (failure) focusFault(element.current);
  }, [failure]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    // A dialog in a page's form is within it for React, though not for the browser.
    event.stopPropagation();
    if (ready && !isPending && !submit()) focusFault(element.current);
  };
  return (
    <form ref={element} noValidate onSubmit={send} onKeyDown={sendOnEnter} className={className}>
      {children}
    </form>
  );
}
