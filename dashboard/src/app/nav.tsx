import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import {
  Bot,
  BrainCircuit,
  CalendarClock,
  ChartColumn,
  FileText,
  FlaskConical,
  Inbox,
  KeyRound,
  ListChecks,
  ListTree,
  MessagesSquare,
  Settings,
  Webhook,
  Wrench,
} from "lucide-react";
import { PendingBadge } from "./waiting-count.tsx";

/** Pages in the order of the side bar. */
export const groups = {
  Pages: [
    { to: "/overview", label: "Overview", icon: ChartColumn },
    { to: "/playground", label: "Playground", icon: FlaskConical },
    { to: "/runs", label: "Runs", icon: ListTree },
    { to: "/approvals", label: "Approvals", icon: Inbox },
    { to: "/threads", label: "Threads", icon: MessagesSquare },
  ],
  Build: [
    { to: "/agents", label: "Agents", icon: Bot },
    { to: "/tools", label: "Tools", icon: Wrench },
    { to: "/memory", label: "Memory", icon: BrainCircuit },
    { to: "/files", label: "Files", icon: FileText },
    { to: "/suites", label: "Suites", icon: ListChecks },
  ],
  Connect: [
    { to: "/keys", label: "API keys", icon: KeyRound },
    { to: "/webhooks", label: "Webhooks", icon: Webhook },
    { to: "/schedules", label: "Schedules", icon: CalendarClock },
  ],
  Administration: [{ to: "/settings", label: "Settings", icon: Settings }],
} as const;

/** One group of navigation links. On the rail their names are tooltips. */
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
      {(group === "Build" || group === "Connect") && (
        <span
          aria-hidden
          className={clsx(
            "px-2 pt-1 pb-0.5 text-2xs text-muted",
            !wide &&
              "max-wide:mx-2 max-wide:mb-1 max-wide:h-px max-wide:bg-mode-line max-wide:overflow-hidden max-wide:p-0 max-wide:text-transparent",
          )}
        >
          {group}
        </span>
      )}
      {groups[group].map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          title={label}
          onClick={onNavigate}
          className={clsx(
            "relative flex h-7.5 shrink-0 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-mode-soft hover:text-ink pointer-coarse:h-10",
            "aria-[current=page]:bg-surface aria-[current=page]:font-strong aria-[current=page]:text-ink aria-[current=page]:shadow-1 aria-[current=page]:ring-1 aria-[current=page]:ring-mode-line aria-[current=page]:[&_svg]:text-mode-ink",
            "focus-visible:shadow-(--focus)!",
            !wide && "justify-center wide:justify-start",
          )}
        >
          <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
          <span className={clsx(!wide && "sr-only wide:not-sr-only")}>{label}</span>
          {(to as string) === "/approvals" && <PendingBadge wide={wide} />}
        </Link>
      ))}
    </nav>
  );
}
