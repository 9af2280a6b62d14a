import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { type RunStatus, runStatuses } from "../run-state.ts";
import { caseStatuses, suiteRunStatuses } from "./enums.ts";
import { Divergence } from "./run.ts";
import { CodedError, resource } from "./schema.ts";
import { DiffCounts } from "./trace.ts";

const suite = { name: t.text, description: t.orNull(t.text), cases_count: t.integer, updated_at: t.time };

export const PinnedRun = t.named(
  "PinnedRun",
  t.object({
    run_id: t.text,
    position: t.integer,
    agent_id: t.text,
    status: t.withType<RunStatus>(t.text),
    input: t.orNull(t.text),
    output: t.orNull(t.text),
  }),
);
export type PinnedRun = Static<typeof PinnedRun>;

export const Suite = resource("Suite", "suite", { ...suite, cases: t.list(PinnedRun) });
export type Suite = Static<typeof Suite>;

const suiteRun = {
  suite_id: t.text,
  status: t.oneOf(suiteRunStatuses),
  counts: t.named(
    "SuiteRunCounts",
    t.object({ total: t.integer, pending: t.integer, equal: t.integer, diverged: t.integer, failed: t.integer }),
  ),
  live: t.orNull(
    t.named(
      "SuiteRunBudget",
      t.object({
        max_cost_usd: t.optional(t.number),
        max_total_tokens: t.optional(t.integer),
        max_runs: t.optional(t.integer),
      }),
    ),
  ),
  ended_at: t.orNull(t.time),
};

const LiveCase = t.named(
  "LiveCase",
  t.object({
    run_id: t.orNull(t.text),
    status: t.oneOf([...runStatuses, "skipped"]),
    output_equal: t.orNull(t.boolean),
    output: t.orNull(t.text),
    diff: t.orNull(DiffCounts),
    cost_usd: t.orNull(t.number),
    total_tokens: t.orNull(t.integer),
    error: t.orNull(CodedError),
  }),
);

/** Result of one run of a suite. */
export const SuiteCase = t.named(
  "SuiteCase",
  t.object({
    run_id: t.text,
    agent_id: t.text,
    agent_version: t.orNull(t.integer),
    status: t.oneOf(caseStatuses),
    divergences_count: t.integer,
    divergences: t.list(Divergence),
    first_divergence: t.orNull(Divergence),
    matched_steps: t.integer,
    live: t.orNull(LiveCase),
    error: t.orNull(CodedError),
  }),
);
export type SuiteCase = Static<typeof SuiteCase>;

export const SuiteRun = resource("SuiteRun", "suite_run", { ...suiteRun, cases: t.list(SuiteCase) });
export type SuiteRun = Static<typeof SuiteRun>;

export const SuiteRunListItem = resource("SuiteRunListItem", "suite_run", suiteRun);
export type SuiteRunListItem = Static<typeof SuiteRunListItem>;

export const SuiteListItem = resource("SuiteListItem", "suite", {
  ...suite,
  last_suite_run: t.orNull(SuiteRunListItem),
});
export type SuiteListItem = Static<typeof SuiteListItem>;
