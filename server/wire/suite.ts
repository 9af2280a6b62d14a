import type { Static } from "@sinclair/typebox";
import { type RunStatus, runStatuses } from "../core/run-state.ts";
import { caseStatuses, suiteRunStatuses } from "./names.ts";
import { Divergence } from "./run.ts";
import {
  boolean,
  CodedError,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  typed,
} from "./schema.ts";

const suite = { name: text, description: orNull(text), cases_count: integer, updated_at: time };

export const PinnedRun = named(
  "PinnedRun",
  object({ run_id: text, position: integer, agent_id: text, status: typed<RunStatus>(text), output: orNull(text) }),
);
export type PinnedRun = Static<typeof PinnedRun>;

export const Suite = resource("Suite", "suite", { ...suite, cases: list(PinnedRun) });
export type Suite = Static<typeof Suite>;

const suiteRun = {
  suite_id: text,
  status: oneOf(suiteRunStatuses),
  counts: object({ total: integer, pending: integer, equal: integer, diverged: integer, failed: integer }),
  live: orNull(
    object({ max_cost_usd: optional(number), max_total_tokens: optional(integer), max_runs: optional(integer) }),
  ),
  ended_at: orNull(time),
};

const LiveCase = object({
  run_id: orNull(text),
  status: oneOf([...runStatuses, "skipped"]),
  output_equal: orNull(boolean),
  output: orNull(text),
  diff: orNull(object({ equal: integer, changed: integer, only_a: integer, only_b: integer })),
  cost_usd: orNull(number),
  total_tokens: orNull(integer),
  error: orNull(CodedError),
});

/** The result of one run of a suite. */
export const SuiteCase = named(
  "SuiteCase",
  object({
    run_id: text,
    agent_id: text,
    agent_version: orNull(integer),
    status: oneOf(caseStatuses),
    divergences_count: integer,
    divergences: list(Divergence),
    first_divergence: orNull(Divergence),
    matched_steps: integer,
    live: orNull(LiveCase),
    error: orNull(CodedError),
  }),
);
export type SuiteCase = Static<typeof SuiteCase>;

export const SuiteRun = resource("SuiteRun", "suite_run", { ...suiteRun, cases: list(SuiteCase) });
export type SuiteRun = Static<typeof SuiteRun>;

export const SuiteRunListItem = resource("SuiteRunListItem", "suite_run", suiteRun);
export type SuiteRunListItem = Static<typeof SuiteRunListItem>;

export const SuiteListItem = resource("SuiteListItem", "suite", { ...suite, last_suite_run: orNull(SuiteRunListItem) });
export type SuiteListItem = Static<typeof SuiteListItem>;
