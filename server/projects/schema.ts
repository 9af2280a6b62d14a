import { type Static, Type } from "@sinclair/typebox";
import { unknownPricePolicies } from "../core/budget-schema.ts";
import { limits } from "../core/limits.ts";
import { exact, oneOf, orNull } from "../lib/schema.ts";

// Which names there can be is said where they are given: the command line gives them too.
const Name = Type.String({ maxLength: limits.name_length });
/** 0 is no limit, null the default. */
const Limit = Type.Optional(orNull(Type.Integer({ minimum: 0, maximum: 1_000_000 })));
/** Null is for ever. */
const Days = Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 99_999 })));
// Null is no budget. A budget of nothing would read as one that is off: whoever wants that archives the project.
const Usd = Type.Optional(orNull(Type.Number({ exclusiveMinimum: 0, maximum: limits.budget_usd })));
const Tokens = Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: limits.budget_tokens })));
const Retention = Type.Optional(exact({ runs_days: Days, traces_days: Days }));

export const NewProject = exact({ name: Name });

export const ProjectChange = exact({
  name: Type.Optional(Name),
  limits: Type.Optional(
    exact({
      reads_per_minute: Limit,
      run_creations_per_minute: Limit,
      writes_per_minute: Limit,
      runs_in_progress: Limit,
      children_per_run: Limit,
    }),
  ),
  retention: Type.Optional(exact({ test: Retention, live: Retention })),
  budget_per_day: Type.Optional(exact({ max_cost_usd: Usd, max_total_tokens: Tokens })),
  unknown_price: Type.Optional(oneOf(unknownPricePolicies)),
  origins: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100, uniqueItems: true })),
});
export type ProjectChange = Static<typeof ProjectChange>;
