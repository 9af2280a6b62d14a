import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { environments } from "../scope.ts";
import { analyticsGroupings, usageGroupings } from "./enums.ts";
import { envelope } from "./schema.ts";

const used = {
  runs: t.named(
    "UsageRuns",
    t.object({ started: t.integer, completed: t.integer, failed: t.integer, cancelled: t.integer }),
  ),
  worked_ms: t.named("UsageDurations", t.object({ p50: t.orNull(t.integer), p95: t.orNull(t.integer) })),
  model_calls: t.integer,
  tool_calls: t.integer,
  input_tokens: t.integer,
  output_tokens: t.integer,
  total_tokens: t.integer,
  cached_input_tokens: t.integer,
  reasoning_tokens: t.integer,
  cost_usd: t.number,
  unknown_cost_calls: t.integer,
  unknown_token_calls: t.integer,
  estimated_calls: t.integer,
};

/** Usage of runs by day, agent or model. */
export const UsageReport = t.named(
  "UsageReport",
  t.object({
    object: t.word("list"),
    data: t.list(
      t.named(
        "UsageGroup",
        t.object({
          object: t.word("usage"),
          ...used,
          day: t.optional(t.text),
          agent_id: t.optional(t.text),
          model: t.optional(t.text),
        }),
      ),
    ),
    has_more: t.boolean,
    totals: t.named("UsageTotals", t.object(used)),
    from: t.text,
    to: t.text,
    group_by: t.oneOf(usageGroupings),
    project_id: t.text,
    environment: t.oneOf(environments),
    ...envelope,
  }),
);
export type UsageReport = Static<typeof UsageReport>;

const counted = {
  count: t.integer,
  completed: t.integer,
  failed: t.integer,
  cancelled: t.integer,
  input_tokens: t.integer,
  output_tokens: t.integer,
  cost_usd: t.number,
  average_ms: t.orNull(t.integer),
};

/** Time series about runs. */
export const AnalyticsReport = t.named(
  "AnalyticsReport",
  t.object({
    object: t.word("list"),
    data: t.list(
      t.named(
        "AnalyticsSeries",
        t.object({
          object: t.word("analytics_series"),
          name: t.text,
          ...counted,
          points: t.list(t.named("AnalyticsPoint", t.object({ at: t.time, ...counted }))),
        }),
      ),
    ),
    has_more: t.boolean,
    totals: t.named("AnalyticsTotals", t.object(counted)),
    percentiles: t.optional(
      t.named(
        "AnalyticsPercentiles",
        t.object({ p50: t.orNull(t.integer), p95: t.orNull(t.integer), p99: t.orNull(t.integer) }),
      ),
    ),
    from: t.time,
    to: t.time,
    bucket: t.oneOf(["hour", "day"]),
    group_by: t.oneOf(analyticsGroupings),
    project_id: t.text,
    environment: t.oneOf(environments),
    ...envelope,
  }),
);
export type AnalyticsReport = Static<typeof AnalyticsReport>;
