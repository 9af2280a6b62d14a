import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { sendOnEnter } from "../lib/send-on-enter.ts";
import { useUnsaved } from "../lib/use-unsaved.ts";
import { focusFault } from "./focus-fault.ts";

/** A form that is a page of its own: its fields scroll, and below them stands what is done with it. */
export function SheetForm({
  legend,
  disabled,
  unsaved,
  error,
  onSubmit,
  above,
  children,
  code,
  foot,
}: {
  /** “Definition of …”, for who does not see it. */
  legend: string;
  disabled: boolean;
  /** Whoever leaves now would lose something, and is asked. */
  unsaved: boolean;
  /** What the server refused: the focus goes to the first field that it speaks of. */
  error: Error | null;
  /** False where something is wrong: the focus goes there. */
  onSubmit: () => boolean;
  /** What stands on the page and is none of its fields. */
  above?: ReactNode;
  children: ReactNode;
  /** The request behind it. */
  code: ReactNode;
  foot: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  useUnsaved(unsaved);
  useEffect(() => {
    if (error) focusFault(form.current);
  }, [error]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!onSubmit()) focusFault(form.current);
  };
  return (
    <form ref={form} noValidate onSubmit={submit} onKeyDown={sendOnEnter} className="flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
        <div className="max-w-280">
          {above}
          <fieldset disabled={disabled} className="min-w-0">
            <legend className="sr-only">{legend}</legend>
            {children}
          </fieldset>
          <div className="pb-5">{code}</div>
        </div>
      </div>
      {foot && (
        <footer className="flex shrink-0 flex-col gap-3 border-t border-line bg-subtle px-4 py-3 rail:px-5">
          {foot}
        </footer>
      )}
    </form>
  );
}

/** The acts below a form, and a word on how it stands. */
export function SheetFormActs({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}
