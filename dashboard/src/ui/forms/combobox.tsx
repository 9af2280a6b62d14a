import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { findModels } from "../../../../server/domain/find-models.ts";

/** A suggestion. */
interface Suggestion {
  value: string;
  /** Another name, by which it is found too. */
  name?: string | null;
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

/**
 * Text field with suggestions; any other value can be typed too. ↓ opens the list, ↵ picks, and only ↵ does. A list of
 * thousands renders the rows in sight. Our own: Base UI's
 * autocomplete hides the page around its list from screen readers, including this field's label.
 */
export function Combobox({ label, hint, placeholder, error, value, items, onValue }: ComboboxProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  // A picked value does not filter: a person who reopens the list wants another one.
  const isChosen = items.some((item) => item.value === value);
  const shown = open ? search(items, isChosen ? "" : value) : [];
  const isOpen = shown.length > 0;
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
      const isAtRow = isOpen && at >= 0;
      setAt(isAtRow ? (at + step + shown.length) % shown.length : step === 1 ? 0 : shown.length - 1);
      setOpen(true);
    } else if (event.key === "Escape" && open) {
      // Items that are still loading open the list later, unless it is closed.
      if (isOpen) event.stopPropagation();
      close();
    } else if (event.key === "Enter" && isOpen && shown[at]) {
      event.preventDefault();
      take(shown[at].value);
    }
  };
  const below = error || hint;
  return (
    <div className="relative flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="font-medium wrap-anywhere">
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

const search = (items: readonly Suggestion[], query: string): Suggestion[] =>
  findModels(
    items.map((item) => ({ ...item, id: item.value })),
    query,
  );

const rowHeight_px = 32;

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
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => list.current,
    estimateSize: () => rowHeight_px,
    getItemKey: (index) => items[index]!.value,
    overscan: 8,
  });
  // A list that opens below the edge of a form, or of a dialog, is brought into sight.
  useEffect(() => {
    list.current?.scrollIntoView({ block: "nearest" });
  }, []);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
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
      <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const { value, aside } = items[index]!;
          return (
            // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the input has the focus and the keys.
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              onClick={() => onTake(value)}
              style={{ transform: `translateY(${start}px)` }}
              className={clsx(
                "absolute inset-x-0 top-0 flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 py-1 font-mono text-xs select-none hover:bg-hover",
                index === at && "bg-hover",
              )}
            >
              <span className="min-w-0 flex-1 wrap-anywhere">{value}</span>
              {aside}
            </div>
          );
        })}
      </div>
    </div>
  );
}
