import type { SQLQueryBindings } from "bun:sqlite";
import { usdOf } from "../../domain/cost.ts";
import type { Scope } from "../../domain/scope.ts";
import { agentConditions, type Viewer } from "../../http/auth.ts";
import { firstItem } from "../../lib/collections.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import { type Durations, readDurations } from "./durations.ts";
import type { UsageQuery } from "./query.ts";
import { type Counts, counters } from "./usage-projection.ts";

/** Spending that counts against a daily budget. */
export interface BudgetSpending {
  total_tokens: number;
  cost_nano_usd: number;
}

// Most groups in one response, the most expensive ones.
const groupsMax = 1000;

const columns = { day: "day", agent: "agent_id", model: "model" } as const;
const sums = counters.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(", ");

export type UsageStore = ReturnType<typeof createUsageStore>;

/** Reads usage; `usage-projection.ts` writes it. */
export function createUsageStore({ db }: { db: Db }) {
  const selectSpent = db.sqlite.query<BudgetSpending, [string, string, string]>(
    `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS total_tokens,
       coalesce(sum(cost_nano_usd), 0) AS cost_nano_usd
     FROM usage_days WHERE project_id = ? AND environment = ? AND day = ?`,
  );

  async function report(viewer: Viewer, { from, to, group_by }: UsageQuery) {
    const { project_id, environment } = viewer;
    const bound = agentConditions(viewer, "agent_id");
    const where = ["project_id = ? AND environment = ? AND day BETWEEN ? AND ?", ...bound.map(({ sql }) => sql)];
    const values: SQLQueryBindings[] = [project_id, environment, from, to, ...bound.flatMap((each) => each.values)];
    const select = (selectList: string, groupClause = ""): (Counts & { name: string })[] =>
      db.sqlite
        .query<Counts & { name: string }, SQLQueryBindings[]>(
          `SELECT ${selectList} FROM usage_days WHERE ${where.join(" AND ")} ${groupClause}`,
        )
        .all(...values);
    const name = columns[group_by];
    const order = group_by === "day" ? "day" : "sum(cost_nano_usd) DESC, sum(input_tokens + output_tokens) DESC, name";
    const rows = select(`${name} AS name, ${sums}`, `GROUP BY ${name} ORDER BY ${order} LIMIT ${groupsMax + 1}`);
    const totals = firstItem(select(sums));
    const worked = await readDurations(db.sqlite, name, where.join(" AND "), values);
    return {
      object: "list" as const,
      data: rows.slice(0, groupsMax).map((row) => ({
        object: "usage" as const,
        [name]: row.name,
        ...serialize(row, worked.of(row.name)),
      })),
      has_more: rows.length > groupsMax,
      totals: serialize(totals, worked.all),
      from,
      to,
      group_by,
      project_id,
      environment,
    };
  }

  return {
    report,
    spentOn: ({ project_id, environment }: Scope, day: string): BudgetSpending =>
      onlyRow(selectSpent.get(project_id, environment, day)),
  };
}

/** Sums include known costs only; the number of calls with unknown costs is shown beside them. */
const serialize = (counts: Counts, worked_ms: Durations) => ({
  runs: {
    started: counts.runs_started,
    completed: counts.runs_completed,
    failed: counts.runs_failed,
    cancelled: counts.runs_cancelled,
  },
  worked_ms,
  model_calls: counts.model_calls,
  tool_calls: counts.tool_calls,
  input_tokens: counts.input_tokens,
  output_tokens: counts.output_tokens,
  total_tokens: counts.input_tokens + counts.output_tokens,
  cached_input_tokens: counts.cached_input_tokens,
  cache_write_5m_tokens: counts.cache_write_5m_tokens,
  cache_write_1h_tokens: counts.cache_write_1h_tokens,
  reasoning_tokens: counts.reasoning_tokens,
  cost_usd: usdOf(counts.cost_nano_usd),
  unknown_cost_calls: counts.unknown_cost,
  unknown_token_calls: counts.unknown_tokens,
  estimated_calls: counts.estimated,
});
