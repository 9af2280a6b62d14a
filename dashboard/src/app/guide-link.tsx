import { useLocation } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleHelp } from "lucide-react";
import { guideOf } from "./guides.ts";

/** Link to the guide of this page, opens in a new tab. */
export function GuideLink({ wide = false }: { wide?: boolean }) {
  const { pathname } = useLocation();
  return (
    <a
      href={guideOf(pathname)}
      target="_blank"
      rel="noreferrer"
      title="Guide to this page"
      className={clsx(
        "flex h-7.5 shrink-0 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-mode-soft hover:text-ink focus-visible:shadow-(--focus)! pointer-coarse:h-10",
        !wide && "justify-center wide:justify-start",
      )}
    >
      <CircleHelp aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      <span className={clsx(!wide && "sr-only wide:not-sr-only")}>Guide to this page</span>
    </a>
  );
}
