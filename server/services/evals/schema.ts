import { type Static, Type } from "@sinclair/typebox";
import { suiteRunStatuses } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import { idOf, Metadata } from "../../http/schemas.ts";
import { named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

/** Maximum live forks per suite run. */
const liveRunsMax = limits.cases_per_suite;

const runIds = Type.Array(idOf("run"), { minItems: 1, maxItems: limits.cases_per_suite, uniqueItems: true });
const own = { name: Type.String({ minLength: 1, maxLength: limits.name_length }), run_ids: runIds };
const optional = { description: orNull(Type.String({ maxLength: 1000 })), metadata: Metadata };

export const CreateSuite = partly(own, optional);
export type CreateSuite = Static<typeof CreateSuite>;

/** Adding and removing runs one by one keeps concurrent edits of two people. */
const stepwise = { add_run_ids: runIds, remove_run_ids: runIds };

export const UpdateSuite = partial({ ...own, ...stepwise, ...optional });
export type UpdateSuite = Static<typeof UpdateSuite>;

/** Limits of all live cases of a suite run together. */
const Live = named(
  "SuiteRunBudgetInput",
  partial({
    max_cost_usd: Type.Number({ exclusiveMinimum: 0, maximum: limits.budget_usd }),
    max_total_tokens: Type.Integer({ minimum: 1, maximum: limits.budget_tokens }),
    max_runs: Type.Integer({ minimum: 1, maximum: liveRunsMax }),
  }),
);
export type Live = Static<typeof Live>;

export const StartSuiteRun = partial({ live: orNull(Live), metadata: Metadata });
export type StartSuiteRun = Static<typeof StartSuiteRun>;

export const suiteFilters = { name: own.name };
export const suiteRunFilters = { status: oneOf(suiteRunStatuses) };
