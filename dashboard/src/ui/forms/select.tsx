import type { ComponentProps } from "react";
import { FormControl } from "./form-control.tsx";

/** A native select with a label. */
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
  return (
    <FormControl label={label} hint={hint}>
      {(controlProps) => (
        <select
          {...controlProps}
          value={value}
          onChange={(event) => onChoose(event.target.value as T)}
          className="h-(--control) w-full rounded-md border border-line-control bg-surface px-2 text-ink hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted"
          {...rest}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </FormControl>
  );
}
