import { Check } from "lucide-react";
import type { ReactNode } from "react";
import type { FormState } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Form } from "../../ui/forms/form.tsx";

/** Settings form with save, discard and status. */
export function SettingsForm({
  form,
  isDirty,
  act,
  children,
}: {
  form: FormState & { result: unknown; restart: () => void };
  /** True if it differs from the saved values. */
  isDirty: boolean;
  /** Label: “Save limits”. */
  act: string;
  children: ReactNode;
}) {
  const { isPending, error } = form;
  const isOpen = isDirty && !isPending;
  return (
    <Form form={{ ...form, isUnsaved: isOpen }} ready={isDirty}>
      {children}
      <div className="flex flex-col gap-3">
        <ErrorNote title={isSilent(error) ? "It is unknown whether this was saved" : "Not saved"} error={error} />
        <div className="flex min-h-(--control) flex-wrap items-center gap-2">
          <Button type="submit" kind="primary" disabled={!isOpen}>
            {isPending ? "Saving" : act}
          </Button>
          {isOpen && (
            <Button kind="ghost" onClick={form.restart}>
              Discard
            </Button>
          )}
          <span role="status" className="flex items-center gap-1.5 text-xs text-ok">
            {form.result !== undefined && !isDirty && (
              <>
                <Check aria-hidden className="size-4" strokeWidth={1.5} />
                Saved
              </>
            )}
          </span>
        </div>
      </div>
    </Form>
  );
}

/** True if there was no response: the request may still have been applied. */
const isSilent = (error: Error | null): boolean => error instanceof ApiError && error.code === "unreachable";
