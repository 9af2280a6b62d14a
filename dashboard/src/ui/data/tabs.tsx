import { Tabs as Base } from "@base-ui/react/tabs";
import { type ReactNode, useEffect, useRef } from "react";

/** Tabs of a page. The address holds the selected one, so the page controls it. */
export function Tabs<T extends string>({
  label,
  value,
  tabs,
  onChange,
  children,
}: {
  label: string;
  value: T;
  tabs: readonly { value: T; label: ReactNode }[];
  onChange: (value: T) => void;
  /** Content of the selected tab. */
  children: ReactNode;
}) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect reads the chosen tab from the DOM.
  useEffect(() => {
    const chosen = list.current?.querySelector("[aria-selected=true]");
    chosen?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [value]);
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(next as T)} className="flex min-h-0 flex-1 flex-col">
      <Base.List
        ref={list}
        aria-label={label}
        className="flex shrink-0 gap-4 overflow-x-auto border-b border-line px-4 [scrollbar-width:none] rail:px-5"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px h-9 shrink-0 border-b-2 border-transparent px-0.5 text-sm font-medium text-muted hover:text-ink aria-selected:border-accent aria-selected:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      <Base.Panel value={value} className="flex min-h-0 flex-1 flex-col">
        {children}
      </Base.Panel>
    </Base.Root>
  );
}
