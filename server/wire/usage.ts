import type { Static } from "@sinclair/typebox";
import { environments } from "../core/scope.ts";
import { usageGroupings } from "./names.ts";
import {
  boolean,
  envelope,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  text,
  word,
} from "./schema.ts";

const used = {
  runs: object({ started: integer, completed: integer, failed: integer, cancelled: integer }),
  worked_ms: object({ p50: orNull(integer), p95: orNull(integer) }),
  model_calls: integer,
  tool_calls: integer,
  input_tokens: integer,
  output_tokens: integer,
  total_tokens: integer,
  cached_input_tokens: integer,
  reasoning_tokens: integer,
  cost_usd: number,
  unknown_cost_calls: integer,
  unknown_token_calls: integer,
  estimated_calls: integer,
};

/** What runs used, by day, agent or model. */
export const UsageReport = named(
  "UsageReport",
  object({
    object: word("list"),
    data: list(
      object({ object: word("usage"), ...used, day: optional(text), agent_id: optional(text), model: optional(text) }),
    ),
    has_more: boolean,
    totals: object(used),
    from: text,
    to: text,
    group_by: oneOf(usageGroupings),
    project_id: text,
    environment: oneOf(environments),
    ...envelope,
  }),
);
export type UsageReport = Static<typeof UsageReport>;
