import { type ComponentProps, useId } from "react";

/** One of several, as the browser lets choose it. */
export function Select<T extends string>({
  label,
  hint,
  value,
  choices,
  onChoose,
  ...rest
}: Omit<ComponentProps<"select">, "value" | "onChange"> & {
  label: string;
  hint?: string;
  value: T;
  choices: readonly { value: T; label: string }[];
  onChoose: (value: T) => void;
}) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-below` : undefined}
        onChange={(event) => onChoose(event.target.value as T)}
        className="h-(--control) w-full rounded-md border border-line-control bg-surface px-2 text-ink hover:border-muted"
        {...rest}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      {hint && (
        <span id={`${id}-below`} className="text-xs text-muted">
          {hint}
        </span>
      )}
    </div>
  );
}
