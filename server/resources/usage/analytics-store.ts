import type { SQLQueryBindings } from "bun:sqlite";
import type { AnalyticsReport } from "../../domain/api-types/usage.ts";
import { usdOf } from "../../domain/cost.ts";
import { bucketMiddle } from "../../domain/histogram-buckets.ts";
import { firstIdAt, type Kind } from "../../domain/ids.ts";
import { timestamp } from "../../domain/time.ts";
import { agentConditions, type Viewer } from "../../http/auth.ts";
import type { Condition } from "../../http/row-filter.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { AnalyticsQuery } from "./analytics-query.ts";
import { type AnalyticsCounts, analyticsCounters, nothing, type Unit, units } from "./count-runs.ts";

// Most series in one response, the largest ones.
const seriesMost = 30;

interface Row extends AnalyticsCounts {
  name: string;
  at_ms: number;
}

const sums = analyticsCounters.map((name) => `sum(${name}) AS ${name}`).join(", ");
/** True for groupings by time taken; their series are ranges. */
const isHistogram = (group_by: string): boolean => group_by === "duration" || group_by === "first_token";

interface Span {
  unit: Unit;
  from_ms: number;
  to_ms: number;
}

/**
 * Spans of rows that cover the period. A histogram has one value per range for the whole period, so whole days are read
 * from daily rows even if the edges are read by hour.
 */
export function spansOf({ from_ms, to_ms, unit, group_by }: Span & Pick<AnalyticsQuery, "group_by">): Span[] {
  const [first, last] = [Math.ceil(from_ms / units.day) * units.day, Math.floor(to_ms / units.day) * units.day];
  if (!isHistogram(group_by) || first >= last) return [{ unit, from_ms, to_ms }];
  return [
    { unit: "hour", from_ms, to_ms: first },
    { unit: "day", from_ms: first, to_ms: last },
    { unit: "hour", from_ms: last, to_ms },
  ];
}

/** Analytics of runs, read from the counts of ended runs. */
export function createAnalytics({ db: { sqlite } }: { db: Db }) {
  /** Counts of runs in one span. */
  function ofRuns(viewer: Viewer, { group_by, agent_id, name }: AnalyticsQuery, { unit, from_ms, to_ms }: Span): Row[] {
    const column = group_by === "agent" ? "agent_id" : "name";
    const where: Condition[] = [
      {
        sql: "project_id = ? AND environment = ? AND dimension = ? AND unit = ? AND at_ms >= ? AND at_ms < ?",
        values: [
          viewer.project_id,
          viewer.environment,
          group_by === "agent" ? "model" : group_by,
          unit,
          from_ms,
          to_ms,
        ],
      },
      ...agentConditions(viewer, "agent_id"),
      ...(agent_id === null ? [] : [{ sql: "agent_id = ?", values: [agent_id] }]),
      ...(name === null ? [] : [{ sql: `${column} = ?`, values: [name] }]),
    ];
    return sqlite
      .query<Row, SQLQueryBindings[]>(
        // A histogram covers the whole period at once.
        `SELECT ${column} AS name, ${isHistogram(group_by) ? "min(at_ms) AS at_ms" : "at_ms"}, ${sums} FROM analytics
         WHERE ${where.map(({ sql }) => `(${sql})`).join(" AND ")}
         GROUP BY ${isHistogram(group_by) ? "" : "at_ms, "}${column}`,
      )
      .all(...where.flatMap(({ values }) => values));
  }

  /** Outcomes of webhook deliveries or schedules, read from their own rows. */
  async function ofOwners(
    viewer: Viewer,
    { from_ms, to_ms, unit, group_by, agent_id, name }: AnalyticsQuery,
  ): Promise<Row[]> {
    const maybeYield = createYielder();
    const { project_id, environment } = viewer;
    const of = owned[group_by as keyof typeof owned];
    const agents = [...of.agents(viewer), ...(agent_id === null ? [] : [{ sql: of.agent, values: [agent_id] }])];
    const agentFilterSql = agents.map(({ sql }) => ` AND (${sql})`).join("");
    const owners = sqlite
      .query<{ id: string }, SQLQueryBindings[]>(
        `SELECT id FROM ${of.owners} WHERE project_id = ? AND environment = ? ${name === null ? "" : "AND id = ?"} LIMIT 1000`,
      )
      .all(project_id, environment, ...(name === null ? [] : [name]));
    const rows: Row[] = [];
    for (const { id } of owners)
      for (let at_ms = from_ms; at_ms < to_ms; at_ms += units[unit]) {
        const query = sqlite.query<Record<"count" | "completed" | "failed" | "cancelled", number>, SQLQueryBindings[]>(
          `SELECT count(*) AS count, ${of.outcomes} FROM ${of.table}
           WHERE project_id = ? AND environment = ? AND ${of.column} = ? AND id >= ? AND id < ? ${agentFilterSql}`,
        );
        const ids = [firstIdAt(of.kind, at_ms), firstIdAt(of.kind, at_ms + units[unit])];
        const counted = onlyRow(
          query.get(project_id, environment, id, ...ids, ...agents.flatMap(({ values }) => values)),
        );
        const noSpending = { input_tokens: 0, output_tokens: 0, cost_nano_usd: 0, took_ms: 0 };
        if (counted.count > 0) rows.push({ name: id, at_ms, ...counted, ...noSpending });
        await maybeYield();
      }
    return rows;
  }

  return async function report(viewer: Viewer, query: AnalyticsQuery): Promise<AnalyticsReport> {
    const { from_ms, to_ms, unit, group_by } = query;
    const rows =
      group_by in owned ? await ofOwners(viewer, query) : spansOf(query).flatMap((span) => ofRuns(viewer, query, span));
    const series = [...Map.groupBy(rows, ({ name }) => name)].map(([name, points]) => ({
      name,
      total: points.reduce(add, nothing()),
      points,
    }));
    if (isHistogram(group_by)) series.sort((a, b) => Number(a.name) - Number(b.name));
    else series.sort((a, b) => b.total.cost_nano_usd - a.total.cost_nano_usd || b.total.count - a.total.count);
    const most = isHistogram(group_by) ? series.length : seriesMost;
    return {
      object: "list",
      data: series.slice(0, most).map(({ name, total, points }) => ({
        object: "analytics_series",
        name,
        ...serialize(total),
        points: isHistogram(group_by)
          ? []
          : points
              .sort((a, b) => a.at_ms - b.at_ms)
              .map((point) => ({ at: timestamp(point.at_ms), ...serialize(point) })),
      })),
      has_more: series.length > most,
      totals: serialize(rows.reduce<AnalyticsCounts>(add, nothing())),
      ...(isHistogram(group_by) && { percentiles_ms: percentilesOf(series) }),
      from: timestamp(from_ms),
      to: timestamp(to_ms),
      bucket: unit,
      group_by,
      project_id: viewer.project_id,
      environment: viewer.environment,
    };
  };
}

interface Owned {
  owners: string;
  table: string;
  column: string;
  kind: Kind;
  outcomes: string;
  agent: string;
  agents(viewer: Viewer): Condition[];
}

const owned: Record<"webhook" | "schedule", Owned> = {
  webhook: {
    owners: "webhooks",
    table: "webhook_deliveries",
    column: "webhook_id",
    kind: "delivery",
    outcomes: `count(*) FILTER (WHERE status = 'delivered') AS completed, count(*) FILTER (WHERE status = 'failed' OR status = 'pending' AND failures > 0)
      AS failed, 0 AS cancelled`,
    agent: "(SELECT agent_id FROM runs WHERE runs.id = webhook_deliveries.run_id) = ?",
    agents: (viewer: Viewer) =>
      agentConditions(viewer, "(SELECT agent_id FROM runs WHERE runs.id = webhook_deliveries.run_id)"),
  },
  schedule: {
    owners: "schedules",
    table: "schedule_runs",
    column: "schedule_id",
    kind: "firing",
    outcomes: `count(*) FILTER (WHERE outcome = 'completed') AS completed,
      count(*) FILTER (WHERE outcome IN ('failed', 'missed')) AS failed,
      count(*) FILTER (WHERE outcome IN ('cancelled', 'skipped')) AS cancelled`,
    agent: "schedule_id IN (SELECT id FROM schedules WHERE agent_id = ?)",
    agents: (viewer: Viewer) =>
      agentConditions(viewer, "(SELECT agent_id FROM schedules WHERE schedules.id = schedule_runs.schedule_id)"),
  },
};

const add = (sum: AnalyticsCounts, counts: AnalyticsCounts): AnalyticsCounts =>
  Object.fromEntries(analyticsCounters.map((name) => [name, sum[name] + counts[name]])) as unknown as AnalyticsCounts;

const serialize = ({ cost_nano_usd, took_ms, ...counts }: AnalyticsCounts) => ({
  count: counts.count,
  completed: counts.completed,
  failed: counts.failed,
  cancelled: counts.cancelled,
  input_tokens: counts.input_tokens,
  output_tokens: counts.output_tokens,
  cost_usd: usdOf(cost_nano_usd),
  average_ms: counts.count === 0 || took_ms === 0 ? null : Math.round(took_ms / counts.count),
});

/** Percentiles, as upper bounds of ranges. */
function percentilesOf(ranges: readonly { name: string; total: AnalyticsCounts }[]) {
  const all = ranges.reduce((sum, { total }) => sum + total.count, 0);
  const of = (percent: number): number | null => {
    let upTo = 0;
    for (const { name, total } of ranges) {
      upTo += total.count;
      if (upTo * 100 >= all * percent) return bucketMiddle(Number(name));
    }
    return null;
  };
  return { p50: of(50), p95: of(95), p99: of(99) };
}
