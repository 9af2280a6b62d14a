import { clsx } from "clsx";
import type { ComponentProps } from "react";
import { hiddenHint } from "../../lib/visible-text.ts";
import { FormControl } from "./form-control.tsx";

/** A labelled text area with a hint; an error replaces the hint. */
export function TextArea({
  label,
  hint,
  error,
  mono,
  className,
  ...rest
}: ComponentProps<"textarea"> & { label: string; hint?: string; error?: string | null; mono?: boolean }) {
  return (
    <FormControl label={label} hint={hiddenHint(rest.value) ?? hint} error={error}>
      {(controlProps) => (
        <textarea
          {...controlProps}
          rows={4}
          spellCheck={mono ? false : undefined}
          className={clsx(
            "field-sizing-content max-h-100 min-h-20 w-full rounded-md border border-line-control bg-surface px-2.5 py-1.5 text-ink hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted aria-invalid:border-bad",
            mono && "font-mono text-xs",
            className,
          )}
          {...rest}
        />
      )}
    </FormControl>
  );
}
