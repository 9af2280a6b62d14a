import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { analyticsGroupings, buckets, usageGroupings } from "./enums.ts";
import { Environment, HasMore, objectOf, ProjectId } from "./fields.ts";
import { envelope } from "./schema.ts";

const used = {
  runs: t.about(
    "How many runs began and ended in this time, by how they ended.",
    t.named(
      "UsageRuns",
      t.object({
        started: t.about("Runs that were begun in this time, whenever they ended.", t.integer),
        completed: t.about("Runs that reached their output.", t.integer),
        failed: t.about("Runs that ended with an error.", t.integer),
        cancelled: t.about("Runs that a request ended.", t.integer),
      }),
    ),
  ),
  worked_ms: t.about(
    "How long runs were in progress, in milliseconds.",
    t.named(
      "UsageDurations",
      t.object({
        p50: t.about("The median duration; null if there are no runs.", t.orNull(t.integer)),
        p95: t.about("The 95th percentile of durations; null if there are no runs.", t.orNull(t.integer)),
      }),
    ),
  ),
  model_calls: t.about("How many model calls were made.", t.integer),
  tool_calls: t.about("How many tools were called. Calls that were refused do not count.", t.integer),
  input_tokens: t.about("Tokens of the prompts.", t.integer),
  output_tokens: t.about("Tokens of the answers.", t.integer),
  total_tokens: t.about("Tokens of prompts and answers together.", t.integer),
  cached_input_tokens: t.about("Prompt tokens that the provider read from its cache.", t.integer),
  cache_write_5m_tokens: t.about(
    "Prompt tokens that providers wrote to their caches, for five minutes or their usual time.",
    t.integer,
  ),
  cache_write_1h_tokens: t.about("Prompt tokens that providers wrote to their caches for an hour.", t.integer),
  reasoning_tokens: t.about("Tokens that models used to think, a part of `output_tokens`.", t.integer),
  cost_usd: t.about("What it cost in US dollars.", t.number),
  unknown_cost_calls: t.about("How many model calls have a cost that is not fully known.", t.integer),
  unknown_token_calls: t.about("How many model calls have token counts that are not fully known.", t.integer),
  estimated_calls: t.about("How many model calls have numbers that were estimated.", t.integer),
};

/** Usage of runs by day, agent or model. */
export const UsageReport = t.named(
  "UsageReport",
  t.object({
    object: objectOf("list"),
    data: t.about(
      "The items of this page.",
      t.list(
        t.named(
          "UsageGroup",
          t.object({
            object: objectOf("usage"),
            ...used,
            day: t.about(
              "The day in UTC that this entry is of, such as `2026-11-30`; absent unless `group_by` is `day`.",
              t.optional(t.text),
            ),
            agent_id: t.about(
              "Id of the agent that this entry is of; absent unless `group_by` is `agent`.",
              t.optional(t.text),
            ),
            model: t.about(
              "The model that this entry is of, as `<provider>/<model>`; absent unless `group_by` is `model`.",
              t.optional(t.text),
            ),
          }),
        ),
      ),
    ),
    has_more: HasMore,
    totals: t.about("The sum of all groups.", t.named("UsageTotals", t.object(used))),
    from: t.about("The first day that is counted, in UTC.", t.text),
    to: t.about("The last day that is counted, in UTC.", t.text),
    group_by: t.about("Of what each entry of `data` is: of a day, an agent or a model.", t.oneOf(usageGroupings)),
    project_id: ProjectId,
    environment: Environment,
    ...envelope,
  }),
);
export type UsageReport = Static<typeof UsageReport>;

const counted = {
  count: t.about(
    "How many: runs; of `tool` calls, of `first_token` model calls, of `webhook` deliveries, of `schedule` times.",
    t.integer,
  ),
  completed: t.about("How many succeeded.", t.integer),
  failed: t.about("How many of them ended with an error.", t.integer),
  cancelled: t.about("How many were cancelled, or skipped by a schedule.", t.integer),
  input_tokens: t.about("Tokens of the prompts.", t.integer),
  output_tokens: t.about("Tokens of the answers.", t.integer),
  cost_usd: t.about("What models cost, in USD, as far as it is known.", t.number),
  average_ms: t.about("How long each took, in milliseconds; null where that is not known.", t.orNull(t.integer)),
};

/** Time series about runs. */
export const AnalyticsReport = t.named(
  "AnalyticsReport",
  t.object({
    object: objectOf("list"),
    data: t.about(
      "The series, those with the highest cost or count first; for durations, the shortest first.",
      t.list(
        t.named(
          "AnalyticsSeries",
          t.object({
            object: objectOf("analytics_series"),
            name: t.about(
              "The model, the tool, the code, or the id; of durations the shortest of their range, in milliseconds. Empty: others.",
              t.text,
            ),
            ...counted,
            points: t.about(
              "The buckets that are not empty.",
              t.list(
                t.named("AnalyticsPoint", t.object({ at: t.about("When the bucket begins.", t.time), ...counted })),
              ),
            ),
          }),
        ),
      ),
    ),
    has_more: HasMore,
    totals: t.about("The sum of all series.", t.named("AnalyticsTotals", t.object(counted))),
    percentiles_ms: t.about(
      "For `duration` and `first_token`: the 50th, 95th and 99th percentiles, in milliseconds.",
      t.optional(
        t.named(
          "AnalyticsPercentiles",
          t.object({
            p50: t.about("In milliseconds; null if there are none.", t.orNull(t.integer)),
            p95: t.about("In milliseconds; null if there are none.", t.orNull(t.integer)),
            p99: t.about("In milliseconds; null if there are none.", t.orNull(t.integer)),
          }),
        ),
      ),
    ),
    from: t.about("When the first bucket begins.", t.time),
    to: t.about("When the last bucket ends.", t.time),
    bucket: t.about("How long each point of a series lasts: an hour or a day.", t.oneOf(buckets)),
    group_by: t.about("Of what each series is, such as a model or a tool.", t.oneOf(analyticsGroupings)),
    project_id: ProjectId,
    environment: Environment,
    ...envelope,
  }),
);
export type AnalyticsReport = Static<typeof AnalyticsReport>;
