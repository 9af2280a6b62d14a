import type { Budget } from "./budget-schema.ts";

/** Who may talk on an agent's chat page: whoever has its link, or whoever is signed in at the dashboard and may run agents. */
export const chatAccesses = ["link", "members"] as const;
type ChatAccess = (typeof chatAccesses)[number];

/** How many runs may be started: on a page by all visitors together, or by one of them. */
export interface ChatLimits {
  runs_per_minute: number;
  runs_per_day: number;
}

/** What a chat page is, beside its link. */
export interface ChatSettings {
  access: ChatAccess;
  title: string | null;
  limits: ChatLimits;
  visitor_limits: ChatLimits;
  /** Of each run. */
  budget: Budget | null;
  /** Whether people may add images and documents. Absent in pages of earlier versions: they may not. */
  files?: boolean;
}

/** Enough for people who try something out, and little enough that a link that got around costs little. */
export const defaultChatLimits = {
  limits: { runs_per_minute: 60, runs_per_day: 1000 },
  visitor_limits: { runs_per_minute: 6, runs_per_day: 100 },
} satisfies Record<string, ChatLimits>;
