import type { ReactNode } from "react";
import type { ApiRequest } from "../lib/request-code.ts";
import type { Sendable } from "../lib/use-form.ts";
import { Closed } from "./closed.ts";
import { Form } from "./form.tsx";
import { FoldedCode } from "./show-code.tsx";

/** A form that is a page of its own: its fields scroll, and below them stands what is done with it. */
export function SheetForm({
  legend,
  disabled,
  form,
  above,
  children,
  request,
  foot,
}: {
  /** “Definition of …”, for who does not see it. */
  legend: string;
  disabled: boolean;
  form: Sendable;
  /** What stands on the page and is none of its fields. */
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
            <Closed value={disabled}>{children}</Closed>
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

/** The acts below a form, and a word on how it stands. */
export function SheetFormActs({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}
