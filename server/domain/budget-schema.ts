import { type Static, Type } from "@sinclair/typebox";
import { about, partial } from "../lib/schema.ts";
import { limits } from "./limits.ts";

/** Limits for a run; absent ones are unlimited. */
export const Budget = partial({
  max_cost_usd: about(
    "What it may cost at most, in US dollars.",
    Type.Number({ exclusiveMinimum: 0, maximum: limits.budget_usd }),
  ),
  max_total_tokens: about(
    "How many tokens may be used, of prompts and answers together.",
    Type.Integer({ minimum: 1, maximum: limits.budget_tokens }),
  ),
  max_tool_calls: about(
    "How many tool calls the run may make, refused ones not counted.",
    Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  ),
  max_wall_ms: about(
    "How long it may take since it began, in milliseconds, waiting included.",
    Type.Integer({ minimum: 1, maximum: 37 * 24 * 3_600_000 }),
  ),
});
export type Budget = Static<typeof Budget>;

/** Policies for models without a known price under a budget in USD. */
export const unknownPricePolicies = ["refuse", "allow"] as const;
export type UnknownPrice = (typeof unknownPricePolicies)[number];
