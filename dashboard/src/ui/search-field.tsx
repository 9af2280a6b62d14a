import { Search } from "lucide-react";
import { type ComponentProps, useEffect, useRef, useState } from "react";
import { useKeys } from "../lib/use-keys.ts";

/** The search of a page: `/` goes there, Escape empties it. */
export function SearchField({
  label,
  value,
  onSearch,
  ...rest
}: Omit<ComponentProps<"input">, "value" | "onChange"> & {
  /** “Search keys”. */
  label: string;
  value: string;
  onSearch: (text: string) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const write = (next: string) => {
    setText(next);
    onSearch(next);
  };
  // An address follows the keys a moment later: while somebody types, what they have typed stands.
  useEffect(() => {
    if (value === "" || document.activeElement !== field.current) setText(value);
  }, [value]);
  useKeys({ "/": () => field.current?.select() });
  return (
    <span className="relative inline-flex w-60 shrink-0 max-rail:w-48">
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint"
        strokeWidth={1.5}
      />
      <input
        ref={field}
        type="search"
        aria-label={label}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          // Within a form it sends nothing, and within a dialog only what is sought goes.
          if (event.key === "Enter") event.preventDefault();
          if (event.key !== "Escape" || text === "") return;
          event.stopPropagation();
          write("");
        }}
        className="h-(--control) w-full rounded-md border border-line-control bg-surface pr-2.5 pl-8 text-ink hover:border-muted"
        {...rest}
      />
    </span>
  );
}
