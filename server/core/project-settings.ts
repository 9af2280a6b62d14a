import type { Environment } from "./scope.ts";

/** How long an environment keeps what is over, in days; absent is for ever. */
export interface RetentionDays {
  runs_days?: number;
  /** Of the journal: messages, events and steps. What was asked and what came of it stays as long as the run. */
  traces_days?: number;
}

/** What a project has of its own: limits that differ from the defaults (0 is off), and how long it keeps things. */
export interface ProjectSettings {
  reads_per_minute?: number;
  run_creations_per_minute?: number;
  writes_per_minute?: number;
  runs_in_progress?: number;
  retention?: Partial<Record<Environment, RetentionDays>>;
}
