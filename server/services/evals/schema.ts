import { type Static, Type } from "@sinclair/typebox";
import { suiteRunStatuses } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import { GivenName, idOf, Metadata } from "../../http/schemas.ts";
import { about, named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

/** Maximum live forks per suite run. */
const liveRunsMax = limits.cases_per_suite;

const runIds = Type.Array(idOf("run"), { minItems: 1, maxItems: limits.cases_per_suite, uniqueItems: true });
const own = {
  name: GivenName,
  run_ids: about("The runs that the suite pins.", runIds),
};
const optional = {
  description: about("A note for people on what it is used for; null: none.", orNull(Type.String({ maxLength: 1000 }))),
  metadata: Metadata,
};

export const CreateSuite = partly(own, optional);
export type CreateSuite = Static<typeof CreateSuite>;

/** Adding and removing runs one by one keeps concurrent edits of two people. */
const stepwise = {
  add_run_ids: about("Runs to pin beside those that are pinned.", runIds),
  remove_run_ids: about("Runs to pin no longer.", runIds),
};

export const UpdateSuite = partial({ ...own, ...stepwise, ...optional });
export type UpdateSuite = Static<typeof UpdateSuite>;

/** Limits of all live cases of a suite run together. */
const Live = named(
  "SuiteRunBudgetInput",
  partial({
    max_cost_usd: about(
      "What it may cost at most, in US dollars.",
      Type.Number({ exclusiveMinimum: 0, maximum: limits.budget_usd }),
    ),
    max_total_tokens: about(
      "How many tokens may be used, of prompts and answers together.",
      Type.Integer({ minimum: 1, maximum: limits.budget_tokens }),
    ),
    max_runs: about("How many cases may continue live.", Type.Integer({ minimum: 1, maximum: liveRunsMax })),
  }),
);
export type Live = Static<typeof Live>;

export const StartSuiteRun = partial({
  live: about(
    "The budget for cases that diverge and continue with live models; null: they do not continue.",
    orNull(Live),
  ),
  metadata: Metadata,
});
export type StartSuiteRun = Static<typeof StartSuiteRun>;

export const suiteFilters = { name: about("Only items with this name.", own.name) };
export const suiteRunFilters = { status: about("Only items with this status.", oneOf(suiteRunStatuses)) };
