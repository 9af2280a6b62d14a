import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../../lib/api.ts";
import type { Sendable } from "../../lib/use-form.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Form } from "../../ui/form.tsx";

/** A form of settings: save, discard, and how it went. */
export function SettingsForm({
  form,
  isDirty,
  act,
  children,
}: {
  form: Sendable & { made: unknown; restart: () => void };
  /** Whether it says something else than what is saved. */
  isDirty: boolean;
  /** “Save limits”. */
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
            {form.made !== undefined && !isDirty && (
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

/** The request may have arrived though its answer did not. */
const isSilent = (error: Error | null): boolean => error instanceof ApiError && error.code === "unreachable";
