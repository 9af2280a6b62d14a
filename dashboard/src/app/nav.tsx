import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ListTree, Settings } from "lucide-react";

const groups = {
  Pages: [{ to: "/runs", label: "Runs", icon: ListTree }],
  Administration: [{ to: "/settings", label: "Settings", icon: Settings }],
} as const;

/** One group of pages. On the rail their names are tooltips. */
export function Nav({
  group,
  wide = false,
  onNavigate,
}: {
  group: keyof typeof groups;
  wide?: boolean;
  onNavigate?: () => void;
}) {
  return (
    <nav aria-label={group} className="flex flex-col gap-px">
      {groups[group].map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          title={label}
          onClick={onNavigate}
          className={clsx(
            "flex h-7.5 shrink-0 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-mode-soft hover:text-ink pointer-coarse:h-10",
            "aria-[current=page]:bg-surface aria-[current=page]:font-strong aria-[current=page]:text-ink aria-[current=page]:shadow-1 aria-[current=page]:ring-1 aria-[current=page]:ring-mode-line aria-[current=page]:[&_svg]:text-mode-ink",
            "focus-visible:shadow-(--focus)!",
            !wide && "justify-center wide:justify-start",
          )}
        >
          <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
          <span className={clsx(!wide && "hidden wide:block")}>{label}</span>
        </Link>
      ))}
    </nav>
  );
}
