/** One of few, side by side. */
export function ChoiceBar<Choice extends string>({
  name,
  label,
  choices,
  chosen,
  readOnly = false,
  onChoose,
}: {
  /** Of the radio buttons: unique in the page. */
  name: string;
  /** Where nothing else names the group. */
  label?: string;
  choices: readonly { value: Choice; label: string }[];
  chosen: Choice;
  readOnly?: boolean;
  onChoose: (choice: Choice) => void;
}) {
  return (
    <div
      {...(label && { role: "radiogroup", "aria-label": label })}
      className="flex h-(--control) min-w-48 rounded-md border border-line-control bg-subtle p-0.5"
    >
      {choices.map(({ value, label }) => (
        <label
          key={value}
          className="flex flex-auto cursor-pointer items-center justify-center rounded-sm px-2.5 text-xs font-medium text-muted select-none hover:text-ink has-disabled:cursor-not-allowed has-disabled:text-muted has-checked:bg-surface has-checked:font-strong has-checked:text-accent has-checked:shadow-1 has-checked:ring-1 has-checked:ring-accent-line has-focus-visible:shadow-(--focus)"
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={chosen === value}
            disabled={readOnly}
            onChange={() => onChoose(value)}
          />
          {label}
        </label>
      ))}
    </div>
  );
}
