import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { type ComponentProps, useId } from "react";

interface FieldProps extends ComponentProps<"input"> {
  label: string;
  hint?: string;
  error?: string | null;
}

/** A labelled input with its hint, or in the hint's place what is wrong with it. */
export function Field({ label, hint, error, className, ...rest }: FieldProps) {
  const id = useId();
  const below = error || hint;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <input
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={below ? `${id}-below` : undefined}
        className={clsx(
          "h-(--control) w-full rounded-md border border-line-control bg-surface px-2.5 text-ink hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted aria-invalid:border-bad",
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
