import { Type } from "@sinclair/typebox";
import { nanoUsd } from "../domain/cost.ts";
import { runErrorCodes } from "../domain/errors.ts";
import { bucketsBetween } from "../domain/histogram-buckets.ts";
import { runStatuses } from "../domain/run-state.ts";
import { runTriggers } from "../domain/run-trigger.ts";
import type { Scope } from "../domain/scope.ts";
import { type Page, readPage } from "../http/page.ts";
import type { Condition } from "../http/row-filter.ts";
import { idOf, SubjectFilter } from "../http/schemas.ts";
import { about, oneOf } from "../lib/schema.ts";
import type { FacetQuery } from "../resources/full-text-search/facet-filter.ts";
import { anyFacet, facetWord, rangeWords } from "../resources/full-text-search/facets.ts";

const sorts = { created_at: null, cost: "cost_nano_usd", duration: "worked_ms" } as const;

const amount = (description: string) => Type.Number({ minimum: 0, description });

/** Filters of run lists, besides the time and metadata filters of every list. */
export const runFilters = {
  status: about("Only items with this status.", oneOf(runStatuses)),
  agent_id: about("Only items of this agent.", idOf("agent")),
  thread_id: about("Only runs of this thread.", idOf("thread")),
  user_id: about("Only items of this user.", SubjectFilter),
  parent_run_id: about("Only runs that this run started.", idOf("run")),
  origin: about("Only runs with this origin.", oneOf(runTriggers)),
  source_run_id: about("Only forks and replays of this run.", idOf("run")),
  model: Type.String({ minLength: 1, maxLength: 256, description: "Only runs of this model." }),
  q: about(
    'Words that must all match; the last may be a prefix, and "words in quotes" match as a phrase. Or an id, or the beginning of one.',
    Type.String({ minLength: 1, maxLength: 500 }),
  ),
  tool: Type.String({ minLength: 1, maxLength: 256, description: "Only runs that called a tool of this name." }),
  error_code: oneOf(runErrorCodes, { description: "Only runs that failed with this code." }),
  api_key_id: about("Only runs that this API key started, with their subagent runs.", idOf("api_key")),
  cost_min: amount("Minimum cost, in USD."),
  cost_max: amount("Maximum cost, in USD."),
  duration_ms_min: amount("Minimum duration, waiting not included, in milliseconds."),
  duration_ms_max: amount("Maximum duration, waiting not included, in milliseconds."),
  first_token_ms_min: amount("Minimum time to first token of a model call, in milliseconds; accurate to a sixteenth."),
  first_token_ms_max: amount("Maximum time to first token of a model call, in milliseconds; accurate to a sixteenth."),
  score: Type.String({ minLength: 1, maxLength: 64, description: "Only runs with a score of this name." }),
  score_min: Type.Number({ description: "Minimum value of a score, or of this `score`." }),
  score_max: Type.Number({ description: "Maximum value of a score, or of this `score`." }),
};

/** Sort order of run lists. */
export const runSort = {
  sort: oneOf(["created_at", "cost", "duration"], {
    default: "created_at",
    description: "The sort key; `cost` and `duration`: only runs that have ended.",
  }),
};

const extra = ["q", "tool", "error_code", "api_key_id", "score"] as const;
const bounds = ["cost", "duration_ms", "first_token_ms", "score"] as const;

/** A parsed query for runs. */
export interface RunQuery {
  page: Page;
  where: readonly Condition[];
  sort: { column: "cost_nano_usd" | "worked_ms"; indexCondition: string } | undefined;
  /** True if `where` may exclude most runs. */
  isSparse: boolean;
  /** Query for the search index; null if the index would not help. */
  asked: FacetQuery | null;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal;
}

/** Parses the filters of a run list. Throws one error with every fault. */
export function readRunQuery(url: string, scope: Scope, moreFilters: Parameters<typeof readPage>[1] = {}): RunQuery {
  const query = readPage(url, { ...runFilters, ...moreFilters });
  const { sort = "created_at", ...filters } = query.filters as Record<string, string> & { sort?: keyof typeof sorts };
  const extraValues = Object.fromEntries(extra.map((name) => [name, filters[name] ?? null])) as Record<
    (typeof extra)[number],
    string | null
  >;
  const ranges = Object.fromEntries(bounds.map((name) => [name, rangeOf(filters, name)])) as Record<
    (typeof bounds)[number],
    Range | null
  >;
  for (const name of [...extra, ...bounds.flatMap((each) => [`${each}_min`, `${each}_max`])]) delete filters[name];
  const column = sorts[sort];
  const { cost, duration_ms: duration, first_token_ms: first } = ranges;
  const facets = [
    ...(extraValues.tool === null ? [] : [facetWord("tool", extraValues.tool)]),
    ...(extraValues.error_code === null ? [] : [facetWord("error_code", extraValues.error_code)]),
    ...(extraValues.api_key_id === null ? [] : [facetWord("api_key_id", extraValues.api_key_id)]),
    ...(cost ? [rangeWords("cost", nanoUsd(cost.min), nanoUsd(cost.max))] : []),
    ...(duration ? [rangeWords("duration", duration.min, duration.max)] : []),
    ...(first ? [anyFacet("first_token", bucketsBetween(first.min, first.max))] : []),
  ];
  const indexedFacets = [
    ...(filters.model === undefined ? [] : [facetWord("model", filters.model)]),
    ...query.metadata.map(([key, value]) => facetWord("metadata", `${key}\0${value}`)),
  ];
  const unread = extraValues.q === null && facets.length === 0;
  return {
    page: { ...query, filters },
    where: [
      ...(cost ? [{ sql: "cost_nano_usd BETWEEN ? AND ?", values: [nanoUsd(cost.min), nanoUsd(cost.max)] }] : []),
      ...(duration ? [{ sql: "worked_ms BETWEEN ? AND ?", values: [duration.min, duration.max] }] : []),
      ...scoreConditions(scope, extraValues.score, ranges.score),
    ],
    sort: column ? { column, indexCondition: "projected & 1 = 1" } : undefined,
    isSparse: extraValues.score !== null || ranges.score !== null,
    asked:
      unread && indexedFacets.length === 0 ? null : { q: extraValues.q, facets: [...facets, ...indexedFacets], unread },
  };
}

interface Range {
  min: number;
  max: number;
}

// More than any run costs or takes, and exact in a double.
const maxValue = 2 ** 52;

function rangeOf(filters: Record<string, string>, name: (typeof bounds)[number]): Range | null {
  const [min, max] = [filters[`${name}_min`], filters[`${name}_max`]];
  if (min === undefined && max === undefined) return null;
  const top = name === "cost" ? maxValue / 1e9 : maxValue;
  return { min: min === undefined ? -top : Number(min), max: max === undefined ? top : Math.min(top, Number(max)) };
}

function scoreConditions({ project_id, environment }: Scope, name: string | null, range: Range | null): Condition[] {
  if (name === null && range === null) return [];
  const { min, max } = range ?? { min: -maxValue, max: maxValue };
  const named = name === null ? { sql: "", values: [] } : { sql: "AND name = ?", values: [name] };
  const sql = `EXISTS (SELECT 1 FROM scores WHERE project_id = ? AND environment = ? AND run_id = runs.id ${named.sql} AND value BETWEEN ? AND ?)`;
  return [{ sql, values: [project_id, environment, ...named.values, min, max] }];
}
