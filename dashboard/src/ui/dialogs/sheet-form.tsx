import type { ReactNode } from "react";
import type { FormState } from "../../hooks/use-form.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import { ReadOnlyContext } from "../data/read-only-context.ts";
import { Form } from "../forms/form.tsx";
import { FoldedCode } from "../forms/show-code.tsx";

/** A form that fills the page: its fields scroll, and its buttons stay below. */
export function SheetForm({
  legend,
  disabled,
  form,
  above,
  children,
  request,
  foot,
}: {
  /** Accessible name of the form: “Definition of …”. */
  legend: string;
  disabled: boolean;
  form: FormState;
  /** Content above the fields. */
  above?: ReactNode;
  children: ReactNode;
  request: ApiRequest;
  foot: ReactNode;
}) {
  return (
    <Form form={form} ready={!disabled} className="flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
        <div className="max-w-280">
          {above}
          <fieldset disabled={disabled} className="min-w-0">
            <legend className="sr-only">{legend}</legend>
            <ReadOnlyContext value={disabled}>{children}</ReadOnlyContext>
          </fieldset>
          <div className="pb-5">
            <FoldedCode name={legend} request={request} />
          </div>
        </div>
      </div>
      {foot && (
        <footer className="flex shrink-0 flex-col gap-3 border-t border-line bg-subtle px-4 py-3 rail:px-5">
          {foot}
        </footer>
      )}
    </Form>
  );
}

/** Buttons and status below a form. */
export function SheetFormActs({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}
