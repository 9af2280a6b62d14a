import { clsx } from "clsx";
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { Menu } from "../dialogs/menu.tsx";

export interface ChipChoice<T> {
  value: T;
  word: string;
  /** Content in the menu. */
  label: ReactNode;
}

/** Builds a chip's choices from labels; `label` renders them in the menu. */
export const choicesOf = <T extends string>(
  words: Record<T, string>,
  label: (value: T) => ReactNode = (value) => words[value],
): ChipChoice<T>[] => (Object.keys(words) as T[]).map((value) => ({ value, word: words[value], label: label(value) }));

/** A filter: dashed while unset, solid when set. */
export function Chip<T extends string>({
  name,
  value,
  choices,
  onChange,
}: {
  /** Name of the filter: “Status”. */
  name: string;
  value: T | undefined;
  choices: readonly ChipChoice<T>[];
  onChange: (value: T | undefined) => void;
}) {
  const word = choices.find((choice) => choice.value === value)?.word ?? value;
  const trigger = (
    <button type="button" className={chipClass(value !== undefined)}>
      {value === undefined && <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />}
      {value === undefined ? name : `${name}:`}
      {value !== undefined && <b>{word}</b>}
    </button>
  );
  return (
    <span className="inline-flex shrink-0">
      <Menu trigger={trigger}>
        {({ MenuChoice }) => (
          <>
            <MenuChoice title={name} value={value ?? ("" as T)} choices={choices} onChange={onChange} />
          </>
        )}
      </Menu>
      {value !== undefined && <ClearChip name={name} onClear={() => onChange(undefined)} />}
    </span>
  );
}

/** Classes of a chip's button. */
export const chipClass = (set: boolean): string =>
  clsx(
    "inline-flex h-(--control-sm) items-center gap-1.5 border px-2 text-xs font-medium whitespace-nowrap",
    set
      ? "rounded-l-full border-accent-line bg-accent-soft text-accent"
      : "rounded-full border-dashed border-line-button text-muted hover:bg-hover hover:text-ink",
  );

/** Clear button at the end of a set chip. */
export function ClearChip({ name, onClear }: { name: string; onClear: () => void }) {
  return (
    <button
      type="button"
      aria-label={`Clear the ${name.toLowerCase()} filter`}
      onClick={onClear}
      className="inline-flex h-(--control-sm) items-center rounded-r-full border border-l-0 border-accent-line bg-accent-soft pr-2 pl-1 text-accent"
    >
      <X aria-hidden className="size-3.5" strokeWidth={1.5} />
    </button>
  );
}

/** A filter that was set elsewhere, by a link or a row, and can only be cleared here. */
export function SetChip({ name, word, onClear }: { name: string; word: string; onClear: () => void }) {
  return (
    <span className="inline-flex max-w-80 min-w-0 shrink-0">
      <span className={`${chipClass(true)} min-w-0`}>
        {name}: <b className="cut">{word}</b>
      </span>
      <ClearChip name={name} onClear={onClear} />
    </span>
  );
}
