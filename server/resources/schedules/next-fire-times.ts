import type { Db } from "../../storage/db/open.ts";
import { schedules } from "../../storage/db/schema.ts";
import { columnsOf } from "../../storage/db/scoped-table.ts";
import { planAfter, type Row, rowOf } from "./row.ts";

type Plan = ReturnType<typeof planAfter>;

type Planned = Row & {
  /** Row number, for paging. */
  place: number;
  /** Last fired time, or a later time at which the plan was made; nothing was due in between. */
  since: number;
};

// Planning one takes half a millisecond.
const plansPerWrite = 20;

/** Next fire times of schedules, and fires that wait for a run to end. */
export function createNextFireTimes(db: Db) {
  const { sqlite } = db;
  const key = "project_id = $project_id AND environment = $environment AND id = $id";
  const updateNextTime = sqlite.query(
    `UPDATE schedules SET next_at_ms = $after, next_run_ats = $next_run_ats WHERE ${key} AND next_at_ms = $before`,
  );
  const queueing = sqlite.query(`UPDATE schedules SET queued_at_ms = $due_at_ms WHERE ${key}`);
  const taking = sqlite.query(`UPDATE schedules SET queued_at_ms = NULL WHERE ${key} AND queued_at_ms = $due_at_ms`);

  return {
    /** Moves a schedule to its next plan; false if the plan was changed meanwhile. Call inside a write. */
    move({ project_id, environment, id, next_at_ms: before }: Row, plan: Plan): boolean {
      const next_run_ats = JSON.stringify(plan.next_run_ats);
      return (
        updateNextTime.run({ project_id, environment, id, before, after: plan.next_at_ms, next_run_ats }).changes > 0
      );
    },
    /** Queues this fire time. Call inside a write. */
    queue: ({ project_id, environment, id }: Row, due_at_ms: number): void =>
      void queueing.run({ project_id, environment, id, due_at_ms }),
    /** Removes this fire time from the queue; false if it was not queued. Call inside a write. */
    unqueue: ({ project_id, environment, id }: Row, due_at_ms: number): boolean =>
      taking.run({ project_id, environment, id, due_at_ms }).changes > 0,
  };
}

/**
 * Recomputes all plans in small writes, because an updated executable may have other time zone rules. A fire time that
 * is past for this reason is due. If the clock was set back, plans stay.
 */
export async function replan(db: Db, now: () => number, isRunning: () => boolean): Promise<void> {
  const plans = createNextFireTimes(db);
  const selectPlanned = db.sqlite.query<{ place: number }, { after: number; now: number; limit: number }>(
    `SELECT ${columnsOf(schedules)}, place, since FROM (SELECT ${columnsOf(schedules, "s")}, s.rowid AS place, max(s.updated_at_ms, coalesce(s.queued_at_ms, 0), coalesce(
           (SELECT max(due_at_ms) FROM schedule_runs f WHERE f.project_id = s.project_id
              AND f.environment = s.environment AND f.schedule_id = s.id AND f.trigger <> 'request'), 0)) AS since
         FROM schedules s WHERE s.rowid > $after AND s.next_at_ms > $now ORDER BY s.rowid) WHERE since <= $now LIMIT $limit`,
  );
  for (let after: number | undefined = 0; after !== undefined && isRunning(); ) {
    const cursor: number = after;
    after = await db.write(() => {
      const planned = selectPlanned.all({ after: cursor, now: now(), limit: plansPerWrite });
      for (const raw of planned) {
        const row = rowOf(raw) as Planned;
        const plan = planAfter(row, row.since);
        if (!Bun.deepEquals(plan.next_run_ats, row.next_run_ats)) plans.move(row, plan);
      }
      return planned.at(-1)?.place;
    });
  }
}
