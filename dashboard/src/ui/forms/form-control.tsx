import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";

/** Attributes that connect a control with its label, hint and error. */
interface ControlAttributes {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

/** A control with its label and hint; an error replaces the hint. */
export function FormControl({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string;
  error?: string | null;
  children: (tied: ControlAttributes) => ReactNode;
}) {
  const id = useId();
  const below = error || hint;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a label does not focus a code editor by itself. */}
      <label
        htmlFor={id}
        id={`${id}-label`}
        className="font-medium wrap-anywhere"
        onClick={() => {
          const control = document.getElementById(id);
          if (control?.isContentEditable) control.focus();
        }}
      >
        {label}
      </label>
      {children({
        id,
        "aria-invalid": error ? true : undefined,
        "aria-describedby": below ? `${id}-below` : undefined,
      })}
      {below && (
        <span
          id={`${id}-below`}
          className={clsx("flex items-center gap-1.5 text-xs wrap-anywhere", error ? "text-bad" : "text-muted")}
        >
          {error && <CircleAlert aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />}
          {below}
        </span>
      )}
    </div>
  );
}
