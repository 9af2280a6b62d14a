import type { UnknownPrice } from "./budget-schema.ts";
import type { Environment } from "./scope.ts";

/** Days until finished things are deleted, per environment; absent: kept for ever. */
export interface RetentionDays {
  runs_days?: number;
  /** For the journal: messages, events and steps. Input and output stay as long as the run. */
  traces_days?: number;
}

/** Default limits of a project, per environment. 0 is unlimited. */
export const defaultLimits = {
  reads_per_minute: 600,
  run_creations_per_minute: 120,
  writes_per_minute: 300,
  runs_in_progress: 20,
  /** Maximal number of descendants of a run, at all depths together. */
  children_per_run: 100,
};
export type ProjectLimits = typeof defaultLimits;

/** Descriptions of these limits. */
export const projectLimitMeanings: Record<keyof ProjectLimits, string> = {
  reads_per_minute: "Requests per minute that only read.",
  run_creations_per_minute: "Requests per minute that start runs.",
  writes_per_minute: "Requests per minute that change something else.",
  runs_in_progress:
    "Runs that work at once. Those that wait for an answer, and those that calls of agents started, do not count.",
  children_per_run: "Runs that come of one run by calls of agents, at all depths together.",
};

/** Budget per environment and day (UTC); absent limits are unlimited. */
export interface DayBudget {
  max_cost_usd?: number;
  max_total_tokens?: number;
}

/** Settings of a project: limits that differ from the defaults, budgets, and retention. */
export interface ProjectSettings extends Partial<ProjectLimits> {
  retention?: Partial<Record<Environment, RetentionDays>>;
  budget_per_day?: DayBudget;
  /** Policy for models without a known price under a budget in USD, of the day or of a run; absent: `refuse`. */
  unknown_price?: UnknownPrice;
  /** Origins whose pages may call the API; absent: none. */
  origins?: string[];
}
