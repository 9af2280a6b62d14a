import { Search } from "lucide-react";
import { type ComponentProps, useEffect, useRef, useState } from "react";
import { useKeys } from "../../hooks/use-keys.ts";

/** Search field of a page: `/` focuses it, Escape clears it. */
export function SearchField({
  label,
  value,
  onSearch,
  ...rest
}: Omit<ComponentProps<"input">, "value" | "onChange"> & {
  /** Label: “Search keys”. */
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
  // The address lags behind typing: while focused, the field keeps its own text.
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
          // Enter must not submit a form, and Escape must only clear the search within a dialog.
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
