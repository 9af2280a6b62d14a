import { Search } from "lucide-react";
import type { ReactNode } from "react";

/** Input typed before the palette's code was loaded. */
export interface TypedInput {
  text: string;
  isEntered: boolean;
}

export const emptyInput: TypedInput = { text: "", isEntered: false };

export const paletteField = {
  "aria-label": "Search or jump to",
  placeholder: "Search, jump to, or paste an id",
  className: "h-12 min-w-0 flex-1 bg-transparent text-md focus-visible:shadow-none",
};

/** The palette's header: its search field and its close button. */
export function PaletteRow({ children }: { children: ReactNode }) {
  return (
    <div className="flex shrink-0 items-center gap-3 border-b border-line px-4">
      <Search aria-hidden className="size-4 shrink-0 text-muted" strokeWidth={1.5} />
      {children}
    </div>
  );
}
