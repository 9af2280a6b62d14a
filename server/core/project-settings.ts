import type { UnknownPrice } from "./budget-schema.ts";
import type { Environment } from "./scope.ts";

/** How long an environment keeps what is over, in days; absent is for ever. */
export interface RetentionDays {
  runs_days?: number;
  /** Of the journal: messages, events and steps. What was asked and what came of it stays as long as the run. */
  traces_days?: number;
}

/** What a project may do, in each of its environments for itself, unless its settings say otherwise. 0 is no limit. */
export const defaultLimits = {
  reads_per_minute: 600,
  run_creations_per_minute: 120,
  writes_per_minute: 300,
  runs_in_progress: 20,
  /** How many runs may come of one run by calls of agents, at all depths together. */
  children_per_run: 100,
};
export type ProjectLimits = typeof defaultLimits;

/** What each of them counts. */
export const projectLimitMeanings: Record<keyof ProjectLimits, string> = {
  reads_per_minute: "Requests per minute that only read.",
  run_creations_per_minute: "Requests per minute that start runs.",
  writes_per_minute: "Requests per minute that change something else.",
  runs_in_progress:
    "Runs that work at once. Those that wait for an answer, and those that calls of agents started, do not count.",
  children_per_run: "Runs that come of one run by calls of agents, at all depths together.",
};

/** What each environment of a project may spend in a day (UTC); what is absent has no bound. */
export interface DayBudget {
  max_cost_usd?: number;
  max_total_tokens?: number;
}

/** What a project has of its own: limits that differ from the defaults, budgets, and how long it keeps things. */
export interface ProjectSettings extends Partial<ProjectLimits> {
  retention?: Partial<Record<Environment, RetentionDays>>;
  budget_per_day?: DayBudget;
  /** Of a model under a budget in USD, of the day as of a run; absent is `refuse`. */
  unknown_price?: UnknownPrice;
  /** Whose pages may ask the API; absent is nobody's. */
  origins?: string[];
}
