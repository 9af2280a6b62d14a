import { type ReactNode, useId } from "react";

/** Radio buttons as cards with explanations. */
export function RadioCards<Choice extends string>({
  label,
  choices,
  chosen,
  onChoose,
}: {
  label: string;
  choices: readonly { value: Choice; label: string; hint: ReactNode }[];
  chosen: Choice;
  onChoose: (choice: Choice) => void;
}) {
  const name = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1.5 font-medium">{label}</legend>
      {choices.map(({ value, label: word, hint }) => (
        <label
          key={value}
          className="flex cursor-pointer items-start gap-2.5 rounded-md border border-line-button px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:shadow-(--focus)"
        >
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            onChange={() => onChoose(value)}
            className="mt-0.5 focus-visible:shadow-none"
          />
          <span className="min-w-0">
            <span className="block font-strong">{word}</span>
            <span className="block text-xs text-muted">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
