import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

/** A suggestion. */
interface Suggestion {
  value: string;
  /** Content beside it: a state, a price. */
  aside?: ReactNode;
}

interface ComboboxProps {
  label: string;
  hint?: string;
  placeholder?: string;
  error?: string | null;
  value: string;
  items: readonly Suggestion[];
  onValue: (value: string) => void;
}

const most = 50;

/**
 * Text field with suggestions; any other value can be typed too. ↓ opens the list, ↵ picks. Our own: Base UI's
 * autocomplete hides the page around its list from screen readers, including this field's label.
 */
export function Combobox({ label, hint, placeholder, error, value, items, onValue }: ComboboxProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  // A picked value does not filter: a person who reopens the list wants another one.
  const isChosen = items.some((item) => item.value === value);
  const words = isChosen ? [] : value.toLowerCase().split(/\s+/);
  const shown = items.filter((item) => words.every((word) => item.value.toLowerCase().includes(word))).slice(0, most);
  const isOpen = open && shown.length > 0;
  const close = () => {
    setOpen(false);
    setAt(-1);
  };
  const take = (next: string) => {
    onValue(next);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt(isOpen ? (at + step + shown.length) % shown.length : step === 1 ? 0 : shown.length - 1);
      setOpen(true);
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" && isOpen && shown[at]) {
      event.preventDefault();
      take(shown[at].value);
    }
  };
  const below = error || hint;
  return (
    <div className="relative flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <input
        id={id}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && at >= 0 ? `${id}-${at}` : undefined}
        aria-invalid={error ? true : undefined}
        aria-describedby={below ? `${id}-below` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        onChange={(event) => {
          onValue(event.target.value);
          setAt(-1);
          // A completely typed name needs no list, which would only cover the page.
          setOpen(!items.some((item) => item.value === event.target.value));
        }}
        onClick={() => setOpen(true)}
        onBlur={close}
        onKeyDown={onKeyDown}
        className="h-(--control) w-full rounded-md border border-line-control bg-surface px-2.5 font-mono text-xs text-ink hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted aria-invalid:border-bad"
      />
      {isOpen && <Suggestions id={id} label={label} items={shown} at={at} onTake={take} />}
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

function Suggestions({
  id,
  label,
  items,
  at,
  onTake,
}: {
  id: string;
  label: string;
  items: readonly Suggestion[];
  at: number;
  onTake: (value: string) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: "nearest" }), [at]);
  return (
    <div
      ref={list}
      id={`${id}-list`}
      role="listbox"
      aria-label={label}
      // Keeps the focus in the input, because losing it closes the list.
      onMouseDown={(event) => event.preventDefault()}
      className="enter absolute inset-x-0 top-full z-(--z-palette) mt-1 max-h-80 overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-2"
    >
      {items.map(({ value, aside }, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the input has the focus and the keys.
        <div
          key={value}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === at}
          onClick={() => onTake(value)}
          className={clsx(
            "flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 font-mono text-xs select-none hover:bg-hover",
            i === at && "bg-hover",
          )}
        >
          <span className="min-w-0 flex-1 wrap-anywhere">{value}</span>
          {aside}
        </div>
      ))}
    </div>
  );
}
