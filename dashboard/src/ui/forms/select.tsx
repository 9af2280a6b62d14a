import type { ComponentProps } from "react";
import { FormControl } from "./form-control.tsx";

interface SelectChoice<T extends string> {
  value: T;
  label: string;
  /** Heading that neighbouring choices share. */
  group?: string;
}

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
  choices: readonly SelectChoice<T>[];
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
          <SelectOptions choices={choices} />
        </select>
      )}
    </FormControl>
  );
}

/** Options of a native select, below their groups. */
export function SelectOptions<T extends string>({ choices }: { choices: readonly SelectChoice<T>[] }) {
  const groups = Map.groupBy(choices, ({ group }) => group);
  return [...groups].map(([group, members]) => {
    const options = members.map(({ value, label }) => (
      <option key={value} value={value}>
        {label}
      </option>
    ));
    return group === undefined ? (
      options
    ) : (
      <optgroup key={group} label={group}>
        {options}
      </optgroup>
    );
  });
}
