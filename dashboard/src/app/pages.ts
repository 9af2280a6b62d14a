import {
  BookOpen,
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
  Plug,
  Settings,
  TextQuote,
  Webhook,
  Wrench,
  Zap,
} from "lucide-react";

/** Pages in the order of the side bar, each with its page of the documentation. */
export const groups = {
  Pages: [
    { to: "/overview", label: "Overview", icon: ChartColumn, guide: "start/dashboard" },
    { to: "/playground", label: "Playground", icon: FlaskConical, guide: "start/real-model" },
    { to: "/runs", label: "Runs", icon: ListTree, guide: "guides/traces" },
    { to: "/approvals", label: "Approvals", icon: Inbox, guide: "guides/approvals" },
    { to: "/threads", label: "Threads", icon: MessagesSquare, guide: "guides/threads" },
  ],
  Build: [
    { to: "/agents", label: "Agents", icon: Bot, guide: "guides/agents" },
    { to: "/tools", label: "Tools", icon: Wrench, guide: "guides/http-tools" },
    { to: "/snippets", label: "Snippets", icon: TextQuote, guide: "guides/variables" },
    { to: "/skills", label: "Skills", icon: BookOpen, guide: "guides/skills" },
    { to: "/memory", label: "Memory", icon: BrainCircuit, guide: "guides/memory" },
    { to: "/files", label: "Files", icon: FileText, guide: "guides/documents" },
    { to: "/suites", label: "Suites", icon: ListChecks, guide: "guides/suites-in-ci" },
  ],
  Connect: [
    { to: "/keys", label: "API keys", icon: KeyRound, guide: "guides/api-keys" },
    { to: "/oauth_clients", label: "OAuth clients", icon: Plug, guide: "guides/oauth" },
    { to: "/webhooks", label: "Webhooks", icon: Webhook, guide: "guides/webhooks" },
    { to: "/schedules", label: "Schedules", icon: CalendarClock, guide: "guides/schedules" },
    { to: "/triggers", label: "Triggers", icon: Zap, guide: "guides/triggers" },
  ],
  Administration: [{ to: "/settings", label: "Settings", icon: Settings, guide: "start/dashboard" }],
} as const;

/** Documentation page of each dashboard page, by the beginning of its path. */
export const guides: Record<string, string> = {
  ...Object.fromEntries(Object.values(groups).flatMap((pages) => pages.map(({ to, guide }) => [to, guide]))),
  "/start": "start/quickstart",
  "/account": "operate/people",
};

export const referenceUrl = "/docs/reference/api";

/** Returns the URL of a page's guide; the concepts guide if it has none of its own. */
export function guideOf(pathname: string): string {
  const firstSegment = pathname.replace(/^\/dashboard/, "").split("/")[1] ?? "";
  return `/docs/${guides[`/${firstSegment}`] ?? "start/concepts"}`;
}
