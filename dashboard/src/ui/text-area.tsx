import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { type ComponentProps, useId } from "react";

/** A labelled text of several lines, with its hint, or in the hint's place what is wrong with it. */
export function TextArea({
  label,
  hint,
  error,
  mono,
  className,
  ...rest
}: ComponentProps<"textarea"> & { label: string; hint?: string; error?: string | null; mono?: boolean }) {
  const id = useId();
  const below = error || hint;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <textarea
        id={id}
        rows={4}
        spellCheck={mono ? false : undefined}
        aria-invalid={error ? true : undefined}
        aria-describedby={below ? `${id}-below` : undefined}
        className={clsx(
          "field-sizing-content max-h-100 min-h-20 w-full rounded-md border border-line-control bg-surface px-2.5 py-1.5 text-ink hover:border-muted aria-invalid:border-bad",
          mono && "font-mono text-xs",
          className,
        )}
        {...rest}
      />
      {below && (
        <span
          id={`${id}-below`}
          className={clsx("flex items-center gap-1.5 text-xs", error ? "text-bad" : "text-muted")}
        >
          {error && <CircleAlert aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />}
          {below}
        </span>
      )}
    </div>
  );
}
