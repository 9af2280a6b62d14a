import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";

/** What ties a control to its label, and to what stands below it. */
interface Tied {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

/** A control with its label, and below it its hint, or in the hint's place what is wrong. */
export function Labelled({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string;
  error?: string | null;
  children: (tied: Tied) => ReactNode;
}) {
  const id = useId();
  const below = error || hint;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: an editor of code is no control that a label takes the focus to by itself. */}
      <label
        htmlFor={id}
        id={`${id}-label`}
        className="font-medium"
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
          className={clsx("flex items-center gap-1.5 text-xs", error ? "text-bad" : "text-muted")}
        >
          {error && <CircleAlert aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />}
          {below}
        </span>
      )}
    </div>
  );
}
