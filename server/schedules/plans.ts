import type { Db } from "../db/open.ts";
import { columnsOf } from "../db/rows.ts";
import { schedules } from "../db/schema.ts";
import { planAfter, type Row, rowOf } from "./row.ts";

type Plan = ReturnType<typeof planAfter>;

type Planned = Row & {
  /** Its place among all. */
  place: number;
  /** The last time that was taken, or when the plan was made at the latest: nothing was due in between. */
  since: number;
};

// Each takes half a millisecond to work out.
const plansPerWrite = 20;

/** When schedules fire next, and what of them waits for a run to end. */
export function createPlans(db: Db) {
  const { sqlite } = db;
  const key = "project_id = ? AND environment = ? AND id = ?";
  const moving = sqlite.query(`UPDATE schedules SET next_at_ms = ?, next_run_ats = ? WHERE ${key} AND next_at_ms = ?`);
  const queueing = sqlite.query(`UPDATE schedules SET queued_at_ms = ? WHERE ${key}`);
  const taking = sqlite.query(`UPDATE schedules SET queued_at_ms = NULL WHERE ${key} AND queued_at_ms = ?`);

  return {
    /** Within a write. False where the plan is another one by now. */
    move: ({ project_id, environment, id, next_at_ms }: Row, plan: Plan): boolean =>
      moving.run(plan.next_at_ms, JSON.stringify(plan.next_run_ats), project_id, environment, id, next_at_ms).changes >
      0,
    /** Within a write: this time waits. */
    queue: ({ project_id, environment, id }: Row, due_at_ms: number): void =>
      void queueing.run(due_at_ms, project_id, environment, id),
    /** Within a write: this time waits no longer. False where it did not. */
    unqueue: ({ project_id, environment, id }: Row, due_at_ms: number): boolean =>
      taking.run(project_id, environment, id, due_at_ms).changes > 0,
  };
}

/**
 * Makes all plans anew, a few a write. An update of the executable may know other summer times than those that plans were
 * made by. A time that has gone by for that reason is due. After a clock that was set back plans stand.
 */
export async function replan(db: Db, now: () => number, isRunning: () => boolean): Promise<void> {
  const plans = createPlans(db);
  const selectPlanned = db.sqlite.query<{ place: number }, [number, number, number]>(
    `SELECT ${columnsOf(schedules)}, place, since FROM (SELECT ${columnsOf(schedules, "s")}, s.rowid AS place, max(s.updated_at_ms, coalesce(s.queued_at_ms, 0), coalesce(
           (SELECT max(due_at_ms) FROM schedule_runs f WHERE f.project_id = s.project_id
              AND f.environment = s.environment AND f.schedule_id = s.id AND f.trigger <> 'request'), 0)) AS since
         FROM schedules s WHERE s.rowid > ?1 AND s.next_at_ms > ?2 ORDER BY s.rowid) WHERE since <= ?2 LIMIT ?3`,
  );
  for (let after: number | undefined = 0; after !== undefined && isRunning(); ) {
    const begun: number = after;
    after = await db.write(() => {
      const planned = selectPlanned.all(begun, now(), plansPerWrite);
      for (const raw of planned) {
        const row = rowOf(raw) as Planned;
        const plan = planAfter(row, row.since);
        if (!Bun.deepEquals(plan.next_run_ats, row.next_run_ats)) plans.move(row, plan);
      }
      return planned.at(-1)?.place;
    });
  }
}
