import type { TriggerOutcome } from "../../domain/api-types/enums.ts";
import { newId } from "../../domain/ids.ts";
import { listPage, type Page, scopeCondition } from "../../http/page.ts";
import { sha256 } from "../../lib/hash.ts";
import type { Db } from "../../storage/db/open.ts";
import { triggerDeliveries } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { type Row, serializeDelivery } from "./row.ts";

/** Result of a request at the address of a trigger. */
export interface Delivery {
  outcome: TriggerOutcome;
  status: number;
  run_id: string | null;
  reason: string | null;
}

/** Days for which a repeated event is recognized. */
const eventDays = 30;
const day_ms = 24 * 3_600_000;
const maxStored = 1000;
// Fewer, so that a stranger's requests do not push those of the sender out.
const maxRefusedStored = 20;

export type TriggerDeliveries = ReturnType<typeof createTriggerDeliveries>;

/** Requests at triggers, and the events that made runs. Call those that write inside a write. */
export function createTriggerDeliveries({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  const rows = createScopedTable(db, triggerDeliveries);
  const key = "project_id = $project_id AND environment = $environment AND trigger_id = $id";
  const selectEvent = sqlite.query<{ run_id: string }, Record<string, string>>(
    `SELECT run_id FROM trigger_events WHERE ${key} AND key = $key`,
  );
  const insertEvent = sqlite.query(
    `INSERT INTO trigger_events (project_id, environment, trigger_id, key, run_id, created_at_ms)
     VALUES ($project_id, $environment, $id, $key, $run_id, $now)`,
  );
  const prune = sqlite.query(
    `DELETE FROM trigger_deliveries WHERE (project_id, environment, id) IN (
       SELECT project_id, environment, id FROM trigger_deliveries
       WHERE ${key} AND (outcome = 'refused') = $refused ORDER BY id DESC LIMIT -1 OFFSET $most)`,
  );
  const mark = sqlite.query(
    `UPDATE triggers SET last_event_at_ms = $now, last_run_id = coalesce($run_id, last_run_id)
     WHERE project_id = $project_id AND environment = $environment AND id = $id`,
  );
  const deleteOld = sqlite.query(
    `DELETE FROM trigger_events WHERE (project_id, environment, trigger_id, key) IN (
       SELECT project_id, environment, trigger_id, key FROM trigger_events WHERE created_at_ms < ? LIMIT ?)`,
  );
  const scopeOf = ({ project_id, environment, id }: Row) => ({ project_id, environment, id });

  return {
    /** Returns the run that one of these events made, or null. */
    runOf(row: Row, keys: readonly string[]): string | null {
      for (const each of keys) {
        const found = selectEvent.get({ ...scopeOf(row), key: sha256(each) });
        if (found) return found.run_id;
      }
      return null;
    },
    /** Stores that an event made a run. Call inside the write that creates it. */
    keepEvent(row: Row, keys: readonly string[], run_id: string): void {
      for (const each of new Set(keys)) insertEvent.run({ ...scopeOf(row), key: sha256(each), run_id, now: now() });
    },
    add(row: Row, { outcome, status, run_id, reason }: Delivery): void {
      const at = now();
      const own = { outcome, status, run_id, reason: reason?.slice(0, 1000) ?? null };
      rows.insert(row, { id: newId("trigger_delivery", at), trigger_id: row.id, ...own, created_at_ms: at });
      const refused = outcome === "refused" ? 1 : 0;
      prune.run({ ...scopeOf(row), refused, most: refused ? maxRefusedStored : maxStored });
      if (!refused) mark.run({ ...scopeOf(row), now: at, run_id: outcome === "started" ? run_id : null });
    },
    list(row: Row, page: Page) {
      const within = scopeCondition(row, { trigger_id: row.id });
      return listPage(
        db,
        { table: triggerDeliveries, kind: "trigger_delivery", scope: row, page, within },
        serializeDelivery,
      );
    },
    /** Call inside a write. Deletes up to `limit` old events and returns their number. */
    forgetExpired: (limit: number): number => deleteOld.run(now() - eventDays * day_ms, limit).changes,
  };
}
