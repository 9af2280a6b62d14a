import { type Static, Type } from "@sinclair/typebox";
import { unknownPricePolicies } from "../../domain/budget-schema.ts";
import { limits } from "../../domain/limits.ts";
import { closedObject, oneOf, orNull } from "../../lib/schema.ts";

// The allowed names are checked in the store, because the command line sets them, too.
const Name = Type.String({ maxLength: limits.name_length });
/** 0: no limit; null: the default. */
const Limit = Type.Optional(orNull(Type.Integer({ minimum: 0, maximum: 1_000_000 })));
/** Null: forever. */
const Days = Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 99_999 })));
// Null: no budget. Zero is refused, because it would read as "off"; to stop all runs, archive the project.
const Usd = Type.Optional(orNull(Type.Number({ exclusiveMinimum: 0, maximum: limits.budget_usd })));
const Tokens = Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: limits.budget_tokens })));
const Retention = Type.Optional(closedObject({ runs_days: Days, traces_days: Days }));

export const NewProject = closedObject({ name: Name });

export const ProjectChange = closedObject({
  name: Type.Optional(Name),
  limits: Type.Optional(
    closedObject({
      reads_per_minute: Limit,
      run_creations_per_minute: Limit,
      writes_per_minute: Limit,
      runs_in_progress: Limit,
      children_per_run: Limit,
    }),
  ),
  retention: Type.Optional(closedObject({ test: Retention, live: Retention })),
  budget_per_day: Type.Optional(closedObject({ max_cost_usd: Usd, max_total_tokens: Tokens })),
  unknown_price: Type.Optional(oneOf(unknownPricePolicies)),
  origins: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100, uniqueItems: true })),
});
export type ProjectChange = Static<typeof ProjectChange>;
