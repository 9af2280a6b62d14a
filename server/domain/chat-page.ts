import type { Budget } from "./budget-schema.ts";

/**
 * Access to an agent's chat page: people with its link, or people who are signed in at the dashboard and may run
 * agents.
 */
export const chatAccesses = ["link", "members"] as const;
type ChatAccess = (typeof chatAccesses)[number];

/** Limits for started runs: on a page by all visitors together, or by one of them. */
export interface ChatLimits {
  runs_per_minute: number;
  runs_per_day: number;
}

/** Settings of a chat page, without its link. */
export interface ChatSettings {
  access: ChatAccess;
  title: string | null;
  limits: ChatLimits;
  visitor_limits: ChatLimits;
  /** Budget of each run. */
  budget: Budget | null;
  /** True if people may add images and documents. Absent in pages of earlier versions: they may not. */
  files?: boolean;
  /** The label of the agent that chooses the version of each run. Absent or null: the newest version. */
  label?: string | null;
}

/** Enough for people who try it out, and few enough that a leaked link costs little. */
export const defaultChatLimits = {
  limits: { runs_per_minute: 60, runs_per_day: 1000 },
  visitor_limits: { runs_per_minute: 6, runs_per_day: 100 },
} satisfies Record<string, ChatLimits>;
