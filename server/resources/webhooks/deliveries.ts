import { and, eq } from "drizzle-orm";
import { testEvent } from "../../domain/api-types/enums.ts";
import { stoppingBriefly, timeExpected } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import { readTimestamp } from "../../domain/time.ts";
import { agentConditions, requireAgent, type Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { listPage, type Page, scopeCondition } from "../../http/page.ts";
import { lastItem } from "../../lib/collections.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { webhookAttempts, webhookDeliveries } from "../../storage/db/schema.ts";
import { columnsOf } from "../../storage/db/scoped-table.ts";
import type { DeliveryResults } from "./delivery-result.ts";
import type { Dispatcher } from "./dispatch.ts";
import { newDelivery, type WebhookKey } from "./outbox.ts";
import { writeEvent } from "./payload.ts";
import { requireUnrestrictedKey } from "./require-unrestricted-key.ts";
import { createOwnWebhookRows, type DeliveryRow } from "./row.ts";
import { serializeDelivery, serializeFullDelivery, serializeWebhook } from "./serialize.ts";

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

const keep_ms = 30 * 24 * 3_600_000;
// Fewer, because each row's attempts with their responses are deleted, too.
const rowsPerWrite = 50;
const againPerWrite = 500;

/** Status filters of pending deliveries: before the first attempt, or after a failure. */
const waiting: Record<string, string | undefined> = {
  pending: "status = 'pending' AND failures = 0",
  retrying: "status = 'pending' AND failures > 0",
};

/** Deliveries: listed, resent, and deleted after 30 days. */
export function createDeliveryStore({
  db,
  audit,
  dispatcher,
  record,
  now = Date.now,
}: StoreBase & {
  dispatcher: Dispatcher;
  record: DeliveryResults;
}) {
  const { sqlite } = db;
  const { find: webhook } = createOwnWebhookRows(db);
  const one = sqlite.query<DeliveryRow & { agent_id: string | null }, [string, string, string, string]>(
    `SELECT ${columnsOf(webhookDeliveries, "d")}, (SELECT agent_id FROM runs WHERE runs.id = d.run_id) AS agent_id FROM webhook_deliveries d
     WHERE project_id = ? AND environment = ? AND webhook_id = ? AND id = ?`,
  );
  const insert = sqlite.query(
    `INSERT INTO webhook_deliveries (project_id, environment, id, webhook_id, type, status, created_at_ms)
     VALUES (?, ?, ?, ?, ?, 'pending', ?)`,
  );
  // Includes deliveries that wait for a retry, which are sent at once.
  const selectFailed = sqlite.query<{ id: string }, [string, string, string, string, number, number]>(
    `SELECT id FROM webhook_deliveries WHERE project_id = ? AND environment = ? AND webhook_id = ? AND id > ?
       AND created_at_ms >= ? AND (status = 'failed' OR status = 'pending' AND failures > 0) ORDER BY id LIMIT ?`,
  );
  const again = sqlite.query(
    `UPDATE webhook_deliveries SET status = 'pending', failures = 0, next_at_ms = ?
     WHERE project_id = ? AND environment = ? AND id IN (SELECT value FROM json_each(?))`,
  );
  const forgetOf = sqlite.query(
    `DELETE FROM webhook_deliveries WHERE rowid IN (SELECT rowid FROM webhook_deliveries
     WHERE project_id = ? AND environment = ? AND webhook_id = ? LIMIT ?)`,
  );
  const forgetOld = sqlite.query(
    `DELETE FROM webhook_deliveries WHERE rowid IN
       (SELECT rowid FROM webhook_deliveries WHERE created_at_ms < ? ORDER BY created_at_ms LIMIT ?)`,
  );

  function find(viewer: Viewer, webhookId: string, id: string): DeliveryRow {
    webhook(viewer, webhookId);
    const row = one.get(viewer.project_id, viewer.environment, webhookId, id) ?? throwNotFound();
    requireAgent(viewer, row.agent_id ?? "");
    return row;
  }

  function whole(row: DeliveryRow) {
    const { project_id, environment, delivery_id, number } = webhookAttempts;
    const ofRow = [eq(project_id, row.project_id), eq(environment, row.environment), eq(delivery_id, row.id)];
    return serializeFullDelivery(
      row,
      db.orm
        .select()
        .from(webhookAttempts)
        .where(and(...ofRow))
        .orderBy(number)
        .all(),
    );
  }

  function sendAgain({ project_id, environment }: Viewer, ids: readonly string[]): void {
    again.run(now(), project_id, environment, JSON.stringify(ids));
  }

  const wake = ({ project_id, environment }: Viewer, id: string) => dispatcher.trust({ project_id, environment, id });

  /** Deletes up to `limit` deliveries of deleted webhooks, finally those webhooks. Call inside a write. */
  function forgetDeleted(limit: number): number {
    const gone = sqlite
      .query<WebhookKey, []>("SELECT project_id, environment, id FROM webhooks WHERE deleted_at_ms IS NOT NULL LIMIT 1")
      .get();
    if (!gone) return 0;
    const { changes } = forgetOf.run(gone.project_id, gone.environment, gone.id, limit);
    if (changes > 0) return changes;
    return sqlite
      .query("DELETE FROM webhooks WHERE project_id = ? AND environment = ? AND id = ?")
      .run(gone.project_id, gone.environment, gone.id).changes;
  }

  return {
    list(viewer: Viewer, webhookId: string, page: Page) {
      webhook(viewer, webhookId);
      const { status = "", ...filters } = page.filters;
      const waits = waiting[status];
      return listPage(
        db,
        {
          table: webhookDeliveries,
          kind: "delivery",
          scope: viewer,
          page: waits ? { ...page, filters } : page,
          within: scopeCondition(viewer, { webhook_id: webhookId }),
          where: [
            ...agentConditions(viewer, "(SELECT agent_id FROM runs WHERE runs.id = webhook_deliveries.run_id)"),
            ...(waits ? [{ sql: waits, values: [] }] : []),
          ],
        },
        serializeDelivery,
      );
    },

    get: (viewer: Viewer, webhookId: string, id: string) => whole(find(viewer, webhookId, id)),

    /** Sends a test event once, also if the webhook is disabled; the outcome does not count. */
    async test(author: Author & Viewer, id: string) {
      requireUnrestrictedKey(author);
      const row = webhook(author, id);
      const { project_id, environment } = author;
      const event = { ...newDelivery, type: testEvent, run_id: null, seq: null, created_at_ms: now() } as const;
      const unsent = { ...event, project_id, environment, id: newId("delivery", now()), webhook_id: id };
      const delivery: DeliveryRow = { ...unsent, body: writeEvent(unsent, { object: serializeWebhook(row) }) };
      const tried = await dispatcher.tryOnce(row, delivery);
      if (!tried) throw new AppError("shutting_down", stoppingBriefly, { retryAfter: 5 });
      return await db.write(() => {
        webhook(author, id);
        insert.run(project_id, environment, delivery.id, id, testEvent, event.created_at_ms);
        record(delivery, tried.body, tried.outcome);
        audit.note(author, "webhook.tested", id, { delivery_id: delivery.id });
        return whole(find(author, id, delivery.id));
      });
    },

    /** Resends an event under the same id; the retry schedule starts over. */
    async redeliver(author: Author & Viewer, webhookId: string, id: string) {
      requireUnrestrictedKey(author);
      const shown = await db.write(() => {
        const { type } = find(author, webhookId, id);
        sendAgain(author, [id]);
        audit.note(author, "delivery.redelivered", id, { webhook_id: webhookId, type });
        return whole(find(author, webhookId, id));
      });
      wake(author, webhookId);
      return shown;
    },

    /** Resends all deliveries since a time that failed or wait for a retry. */
    async redeliverAll(author: Author & Viewer, id: string, since: string) {
      requireUnrestrictedKey(author);
      const from = readTimestamp(since);
      if (from === null) throw invalid("since", timeExpected);
      let deliveries = 0;
      for (let after: string | undefined = ""; after !== undefined; ) {
        const begun = after;
        after = await db.write(() => {
          webhook(author, id);
          if (begun === "") audit.note(author, "webhook.redelivered", id, { since });
          const { project_id, environment } = author;
          const some = selectFailed.all(project_id, environment, id, begun, from, againPerWrite);
          sendAgain(
            author,
            some.map((row) => row.id),
          );
          deliveries += some.length;
          return some.length < againPerWrite ? undefined : lastItem(some).id;
        });
      }
      wake(author, id);
      return { id, object: "webhook_redelivery" as const, deliveries };
    },

    /** Deletes up to `limit` old deliveries and returns the number of rows. Call inside a write. */
    forget(limit: number): number {
      const some = Math.min(limit, rowsPerWrite);
      return forgetDeleted(some) || forgetOld.run(now() - keep_ms, some).changes;
    },
  };
}
