import { Autocomplete } from "@base-ui/react/autocomplete";
import { type ReactNode, useState } from "react";
import { Labelled } from "./labelled.tsx";

/** One thing that could be meant. */
interface Suggestion {
  value: string;
  /** Beside it: a state, a price. */
  aside?: ReactNode;
}

interface SuggestFieldProps {
  label: string;
  hint?: string;
  error?: string | null;
  value: string;
  items: readonly Suggestion[];
  onValue: (value: string) => void;
}

const most = 50;

/** A labelled input that knows what could be meant; anything else can be typed, too. ↓ opens the list, ↵ takes from it. */
export function SuggestField({ label, hint, error, value, items, onValue }: SuggestFieldProps) {
  const [open, setOpen] = useState(false);
  const isItem = (text: string) => items.some((item) => item.value === text);
  // What was chosen is not searched for: whoever opens the list again wants another one.
  const words = isItem(value) ? [] : value.toLowerCase().split(/\s+/);
  const shown = items.filter((item) => words.every((word) => item.value.toLowerCase().includes(word))).slice(0, most);
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(tied) => (
        <Autocomplete.Root
          mode="none"
          items={shown}
          itemToStringValue={(item: Suggestion) => item.value}
          value={value}
          onValueChange={onValue}
          openOnInputClick
          open={open && shown.length > 0}
          onOpenChange={(next, { reason }) => reason !== "input-change" && setOpen(next)}
        >
          <Autocomplete.Input
            {...tied}
            autoComplete="off"
            spellCheck={false}
            // Whoever has written all of a name needs no list, which would only hide what is below.
            onInput={(event) => setOpen(!isItem(event.currentTarget.value))}
            className="h-(--control) w-full rounded-md border border-line-control bg-surface px-2.5 font-mono text-xs text-ink hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted aria-invalid:border-bad"
          />
          <Autocomplete.Portal render={<section aria-label={label} />}>
            <Autocomplete.Positioner align="start" sideOffset={4} className="z-(--z-palette)">
              <Autocomplete.Popup className="enter max-h-[min(20rem,var(--available-height))] w-(--anchor-width) overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-2">
                <Autocomplete.List aria-label={label}>
                  {(item: Suggestion) => (
                    <Autocomplete.Item
                      key={item.value}
                      value={item}
                      className="flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 font-mono text-xs select-none data-highlighted:bg-hover"
                    >
                      <span className="min-w-0 flex-1 wrap-anywhere">{item.value}</span>
                      {item.aside}
                    </Autocomplete.Item>
                  )}
                </Autocomplete.List>
              </Autocomplete.Popup>
            </Autocomplete.Positioner>
          </Autocomplete.Portal>
        </Autocomplete.Root>
      )}
    </Labelled>
  );
}
