import { clsx } from "clsx";
import { Search } from "lucide-react";
import { withModifier } from "../lib/modifier.ts";
import { Kbd } from "../ui/data/kbd.tsx";
import { showShellDialog } from "./use-shell-dialog.ts";

/** Opens the command menu. Looks like a search field; an icon on the rail and on a phone. */
export function CommandMenuButton({ small = false }: { small?: boolean }) {
  return (
    <button
      type="button"
      aria-label={small ? "Search or jump to" : undefined}
      aria-haspopup="dialog"
      title={`Search or jump to (${withModifier("K")})`}
      onClick={() => showShellDialog("palette")}
      className={clsx(
        "flex h-(--control) shrink-0 items-center justify-center gap-2.5 rounded-md text-muted hover:bg-mode-soft hover:text-ink",
        small
          ? "w-(--control)"
          : "wide:justify-start wide:border wide:border-line-control wide:bg-surface wide:px-2 wide:hover:bg-surface",
      )}
    >
      <Search aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      {!small && (
        <>
          <span className="hidden wide:block">Search or jump to</span>
          <span className="ml-auto hidden wide:block">
            <Kbd>{withModifier("K")}</Kbd>
          </span>
        </>
      )}
    </button>
  );
}
