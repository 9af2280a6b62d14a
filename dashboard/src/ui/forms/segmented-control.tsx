import { clsx } from "clsx";
import type { LucideIcon } from "lucide-react";

/** Radio buttons side by side, with labels or with icons and tooltips. */
export function SegmentedControl<Choice extends string>({
  name,
  label,
  choices,
  chosen,
  readOnly = false,
  onChoose,
}: {
  /** Name of the radio buttons, unique in the page. */
  name: string;
  /** Needed if nothing else names the group. */
  label?: string;
  choices: readonly { value: Choice; label: string; icon?: LucideIcon }[];
  chosen: Choice;
  readOnly?: boolean;
  onChoose: (choice: Choice) => void;
}) {
  return (
    <div
      {...(label && { role: "radiogroup", "aria-label": label })}
      className={clsx(
        "flex h-(--control) rounded-md border border-line-button bg-surface",
        !choices[0]?.icon && "min-w-48",
      )}
    >
      {choices.map(({ value, label, icon: Icon }) => (
        <label
          key={value}
          title={Icon && label}
          className="relative flex flex-auto cursor-pointer items-center justify-center border-r border-line px-2.5 text-xs font-medium whitespace-nowrap text-muted select-none first:rounded-l-md last:rounded-r-md last:border-r-0 hover:text-ink has-checked:bg-accent-soft has-checked:text-accent has-disabled:cursor-not-allowed has-disabled:text-muted forced-colors:has-checked:underline"
        >
          <input
            type="radio"
            name={name}
            className="absolute inset-0 size-full cursor-[inherit] appearance-none rounded-sm"
            checked={chosen === value}
            disabled={readOnly}
            onChange={() => onChoose(value)}
          />
          {Icon ? (
            <>
              <Icon aria-hidden className="size-4" strokeWidth={1.5} />
              <span className="sr-only">{label}</span>
            </>
          ) : (
            label
          )}
        </label>
      ))}
    </div>
  );
}
