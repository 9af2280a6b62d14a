import { type AnalyticsGrouping, buckets } from "../../domain/api-types/enums.ts";
import { nanoUsd } from "../../domain/cost.ts";
import { bucketOf } from "../../domain/histogram-buckets.ts";
import type { JournalEntry, ModelSpend } from "../../domain/run-event.ts";
import type { RunObject } from "../../domain/run-object.ts";
import type { Scope } from "../../domain/scope.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { EndedRun, Projection } from "../../storage/journal/post-run-projections.ts";
import { modelSpendOf } from "./usage-projection.ts";

/** Counters, named as the table's columns. */
export const analyticsCounters = [
  ...(["count", "completed", "failed", "cancelled"] as const),
  ...(["input_tokens", "output_tokens", "cost_nano_usd", "took_ms"] as const),
];
export type AnalyticsCounts = Record<(typeof analyticsCounters)[number], number>;

/** Groupings of the table's rows. Agents need none, because each row names one. */
type Dimension = Exclude<AnalyticsGrouping, "agent" | "webhook" | "schedule">;

export const units = { hour: 3_600_000, day: 24 * 3_600_000 } as const;
export type Unit = keyof typeof units;

// Most users of one agent in one hour or day; the others are counted without a name.
const usersMost = 100;

type Group = readonly [
  project_id: string,
  environment: string,
  dimension: Dimension,
  Unit,
  at_ms: number,
  agent_id: string,
  name: string,
];

/** Sum that is added to an hour's row and its day's row. */
interface Sum {
  of: Pick<EndedRun, "project_id" | "environment" | "agent_id" | "ended_at_ms">;
  dimension: Dimension;
  name: string;
  counts: AnalyticsCounts;
}

/** Counts ended runs. Sums of one commit for the same row are merged. */
export function createRunCounts({ sqlite, write }: Db): Projection {
  const addRow = sqlite.query(
    `INSERT INTO analytics (project_id, environment, dimension, unit, at_ms, agent_id, name, ${analyticsCounters.join(", ")})
     VALUES (?, ?, ?, ?, ?, ?, ?, ${analyticsCounters.map(() => "?").join(", ")})
     ON CONFLICT DO UPDATE SET ${analyticsCounters.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
  );
  const ofGroup = "project_id = ? AND environment = ? AND dimension = ? AND unit = ? AND at_ms = ? AND agent_id = ?";
  const selectKnown = sqlite.query(`SELECT 1 FROM analytics WHERE ${ofGroup} AND name = ?`);
  const countUsers = sqlite.query<{ n: number }, (string | number)[]>(
    `SELECT count(*) AS n FROM analytics WHERE ${ofGroup}`,
  );
  const sums = new Map<string, Sum>();
  const forget = (): void => sums.clear();

  function finish(): void {
    for (const { of, dimension, name, counts } of sums.values())
      for (const unit of buckets) {
        const at_ms = Math.floor(of.ended_at_ms / units[unit]) * units[unit];
        const group = [of.project_id, of.environment, dimension, unit, at_ms, of.agent_id, name] as const;
        addRow.run(...limitUsers(group), ...analyticsCounters.map((counter) => counts[counter]));
      }
    forget();
  }
  write.defer({ finish, forget });

  function limitUsers(group: Group): Group {
    const [project_id, environment, dimension, unit, at_ms, agent_id, name] = group;
    if (dimension !== "user" || selectKnown.get(...group)) return group;
    const { n } = onlyRow(countUsers.get(project_id, environment, dimension, unit, at_ms, agent_id));
    return n < usersMost ? group : [project_id, environment, dimension, unit, at_ms, agent_id, name === "" ? name : ""];
  }

  /** Call inside a write. */
  function count(of: EndedRun, dimension: Dimension, name: string, counts: Partial<AnalyticsCounts>): void {
    const hour = Math.floor(of.ended_at_ms / units.hour);
    const key = `${of.project_id}\n${of.environment}\n${dimension}\n${hour}\n${of.agent_id}\n${name}`;
    const sum = sums.get(key) ?? { of, dimension, name, counts: nothing() };
    sums.set(key, sum);
    add(sum.counts, counts);
  }

  return {
    bit: 2,
    begin(run) {
      const runCounts = countsOfRun(run);
      // Replays and imports happened earlier or elsewhere.
      const isCounted = run.origin === "run" || run.origin === "fork";
      return {
        entry: runCounts.entry,
        write: () => isCounted && runCounts.all((dimension, name, counts) => count(run, dimension, name, counts)),
      };
    },
  };
}

export const nothing = (): AnalyticsCounts =>
  Object.fromEntries(analyticsCounters.map((counter) => [counter, 0])) as AnalyticsCounts;

type Tell = (dimension: Dimension, name: string, counts: Partial<AnalyticsCounts>) => void;

/** Sums up a run entry by entry, because it may have thousands of calls and all counts are written at once. */
function countsOfRun(run: EndedRun) {
  const tools = new Map<string, AnalyticsCounts>();
  const first = new Map<string, AnalyticsCounts>();
  const spent = noSpending();
  // The run's first model, and the others that it asked.
  const own = noSpending();
  const ofOthers = new Map<string, Spending>();
  let error: string | null = null;
  let key: string | null = null;
  let recorded_to = 0;
  if (run.summary !== null) {
    const { usage, error: of }: RunObject = JSON.parse(run.summary);
    spent.input_tokens = usage.input_tokens ?? 0;
    spent.output_tokens = usage.output_tokens ?? 0;
    spent.cost_nano_usd = nanoUsd(usage.cost_usd ?? 0);
    Object.assign(own, spent);
    error = of?.code ?? null;
  }
  return {
    entry({ seq, event }: JournalEntry): void {
      if (event.type === "run.created") {
        recorded_to = event.recorded_to ?? 0;
        key = event.api_key_id ?? null;
      }
      if (seq <= recorded_to) return; // Already counted with the run that it was copied from.
      const cost = modelSpendOf(event);
      if (cost) {
        addSpending(spent, cost);
        addSpending(cost.model === undefined ? own : spendingIn(ofOthers, cost.model), cost);
      }
      if (event.type === "step.completed" && typeof event.answer?.time_to_first_token_ms === "number") {
        const took_ms = event.answer.time_to_first_token_ms;
        addTo(first, String(bucketOf(took_ms)), { count: 1, took_ms });
      }
      if (event.type === "tool.completed" && !event.refused)
        addTo(tools, event.tool, {
          count: 1,
          took_ms: event.latency_ms,
          [event.status === "completed" ? "completed" : "failed"]: 1,
        });
      if (event.type === "run.failed") error = event.error.code;
    },
    all(addCounts: Tell): void {
      const took_ms = run.worked_ms;
      const of = { count: 1, [run.status]: 1, took_ms, ...spent } as Partial<AnalyticsCounts>;
      addCounts("model", run.model ?? "", { ...of, ...own });
      for (const [model, counts] of ofOthers) addCounts("model", model, counts);
      if (key !== null) addCounts("key", key, of);
      if (run.user_id !== null) addCounts("user", run.user_id, of);
      if (error !== null) addCounts("error", error, of);
      for (const [tool, counts] of tools) addCounts("tool", tool, counts);
      // A cancelled run's duration says nothing about others.
      if (run.status !== "cancelled") addCounts("duration", String(bucketOf(took_ms)), { count: 1, took_ms });
      for (const [range, counts] of first) addCounts("first_token", range, counts);
    },
  };
}

type Spending = Pick<AnalyticsCounts, "input_tokens" | "output_tokens" | "cost_nano_usd">;

const noSpending = (): Spending => ({ input_tokens: 0, output_tokens: 0, cost_nano_usd: 0 });

function addSpending(sum: Spending, { usage, cost_usd }: ModelSpend): void {
  sum.input_tokens += usage.input_tokens ?? 0;
  sum.output_tokens += usage.output_tokens ?? 0;
  sum.cost_nano_usd += nanoUsd(cost_usd ?? 0);
}

function spendingIn(sums: Map<string, Spending>, model: string): Spending {
  const known = sums.get(model) ?? noSpending();
  sums.set(model, known);
  return known;
}

function addTo(sums: Map<string, AnalyticsCounts>, name: string, counts: Partial<AnalyticsCounts>): void {
  const sum = sums.get(name) ?? nothing();
  sums.set(name, sum);
  add(sum, counts);
}

function add(sum: AnalyticsCounts, counts: Partial<AnalyticsCounts>): void {
  for (const counter of Object.keys(counts) as (keyof AnalyticsCounts)[]) sum[counter] += counts[counter] ?? 0;
}

/** Deletes counts of an erased user and returns the number of rows. Call inside a write. */
export const createForgetUser = ({ sqlite }: Db) => {
  const remove = sqlite.query(
    `DELETE FROM analytics WHERE (project_id, environment, dimension, unit, at_ms, agent_id, name) IN (
       SELECT project_id, environment, dimension, unit, at_ms, agent_id, name FROM analytics
       WHERE project_id = ? AND environment = ? AND name = ? AND dimension = 'user' LIMIT 200)`,
  );
  return ({ project_id, environment }: Scope, userId: string): number =>
    remove.run(project_id, environment, userId).changes;
};
