import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { type RunStatus, runStatuses } from "../run-state.ts";
import { caseStatuses, suiteRunStatuses } from "./enums.ts";
import { AgentId, CompletedAt, Name, UpdatedAt } from "./fields.ts";
import { Divergence } from "./run.ts";
import { ErrorOrNull, resource } from "./schema.ts";
import { DiffCounts } from "./trace.ts";

const suite = {
  name: Name,
  description: t.about("A note for people on what it is used for; null: none.", t.orNull(t.text)),
  cases_count: t.about("How many runs the suite pins.", t.integer),
  updated_at: UpdatedAt,
};

const PinnedRunId = t.about("Id of the run that the suite pins as a case: `run_…`.", t.text);

export const PinnedRun = t.named(
  "PinnedRun",
  t.object({
    run_id: PinnedRunId,
    position: t.about("Its place in the suite, from 1.", t.integer),
    agent_id: AgentId,
    status: t.about("How the pinned run stands, such as `completed`.", t.withType<RunStatus>(t.text)),
    input: t.about("The beginning of what the run was asked; null where its record cannot be read.", t.orNull(t.text)),
    output: t.about("What the run returned; null where it returned nothing.", t.orNull(t.text)),
  }),
);
export type PinnedRun = Static<typeof PinnedRun>;

export const Suite = resource("Suite", "suite", {
  ...suite,
  cases: t.about("The cases, one for each pinned run.", t.list(PinnedRun)),
});
export type Suite = Static<typeof Suite>;

const suiteRun = {
  suite_id: t.about("Id of the suite whose cases were replayed: `sui_…`.", t.text),
  status: t.about(
    "`passed`: all cases are equal. `diverged`: one is not. `failed`: one could not be replayed.",
    t.oneOf(suiteRunStatuses),
  ),
  counts: t.about(
    "How many cases have each status.",
    t.named(
      "SuiteRunCounts",
      t.object({
        total: t.about("How many cases the suite run has.", t.integer),
        pending: t.about("Cases that have no result yet.", t.integer),
        equal: t.about("Cases whose replay matched the record.", t.integer),
        diverged: t.about("Cases whose replay differed from the record.", t.integer),
        failed: t.about("Cases that could not be replayed.", t.integer),
      }),
    ),
  ),
  live: t.about(
    "The budget for cases that diverge and continue with live models; null: they do not continue.",
    t.orNull(
      t.named(
        "SuiteRunBudget",
        t.object({
          max_cost_usd: t.about("What it may cost at most, in US dollars.", t.optional(t.number)),
          max_total_tokens: t.about(
            "How many tokens may be used, of prompts and answers together.",
            t.optional(t.integer),
          ),
          max_runs: t.about("How many cases may continue live.", t.optional(t.integer)),
        }),
      ),
    ),
  ),
  completed_at: CompletedAt,
};

const LiveCase = t.named(
  "LiveCase",
  t.object({
    run_id: t.about("The run that continued live; null if there is none.", t.orNull(t.text)),
    status: t.about(
      "How that run stands; `skipped`: it was not started, see `error`.",
      t.oneOf([...runStatuses, "skipped"]),
    ),
    output_equal: t.about("Whether the output is the recorded one; null where there is none.", t.orNull(t.boolean)),
    output: t.about("What the run returned; null where it returned nothing.", t.orNull(t.text)),
    diff: t.about("How many steps of the two runs are equal, and how many not.", t.orNull(DiffCounts)),
    cost_usd: t.about("What it cost in US dollars; null where that is not known.", t.orNull(t.number)),
    total_tokens: t.about(
      "Tokens of prompts and answers together; null where they are not known.",
      t.orNull(t.integer),
    ),
    error: ErrorOrNull,
  }),
);

/** Result of one run of a suite. */
export const SuiteCase = t.named(
  "SuiteCase",
  t.object({
    run_id: PinnedRunId,
    agent_id: AgentId,
    agent_version: t.about(
      "The version of the agent that the run took when it was created, and keeps.",
      t.orNull(t.integer),
    ),
    status: t.about(
      "`pending`: no result yet. `equal` to the record, or `diverged` from it. `failed`: not replayed, see `error`.",
      t.oneOf(caseStatuses),
    ),
    divergences_count: t.about("In how many places the replay differed from the record.", t.integer),
    divergences: t.about("Where the replay differed from the record.", t.list(Divergence)),
    first_divergence: t.about(
      "The first place where the replay differed; null where it did not.",
      t.orNull(Divergence),
    ),
    matched_steps: t.about("How many steps matched the record.", t.integer),
    live: t.about("How the case continued live; null if it did not.", t.orNull(LiveCase)),
    error: ErrorOrNull,
  }),
);
export type SuiteCase = Static<typeof SuiteCase>;

export const SuiteRun = resource("SuiteRun", "suite_run", {
  ...suiteRun,
  cases: t.about("The cases, one for each pinned run.", t.list(SuiteCase)),
});
export type SuiteRun = Static<typeof SuiteRun>;

export const SuiteRunListItem = resource("SuiteRunListItem", "suite_run", suiteRun);
export type SuiteRunListItem = Static<typeof SuiteRunListItem>;

export const SuiteListItem = resource("SuiteListItem", "suite", {
  ...suite,
  last_suite_run: t.about("The newest suite run; null where there is none.", t.orNull(SuiteRunListItem)),
});
export type SuiteListItem = Static<typeof SuiteListItem>;
