import { clsx } from "clsx";
import type { ComponentProps } from "react";
import { hiddenHint } from "../../lib/visible-text.ts";
import { FormControl } from "./form-control.tsx";

interface FieldProps extends ComponentProps<"input"> {
  label: string;
  hint?: string;
  error?: string | null;
}

/** A labelled input with a hint; an error replaces the hint. */
export function Field({ label, hint, error, className, ...rest }: FieldProps) {
  return (
    <FormControl label={label} hint={hiddenHint(rest.value) ?? hint} error={error}>
      {(controlProps) => (
        <input
          {...controlProps}
          className={clsx(
            "h-(--control) w-full rounded-md border border-line-control bg-surface px-2.5 text-ink hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted aria-invalid:border-bad",
            className,
          )}
          {...rest}
        />
      )}
    </FormControl>
  );
}
