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
const waitingConditions: Record<string, string | undefined> = {
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
  const requeue = sqlite.query(
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

  function serializeFull(row: DeliveryRow) {
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
    requeue.run(now(), project_id, environment, JSON.stringify(ids));
  }

  const wake = ({ project_id, environment }: Viewer, id: string) => dispatcher.trust({ project_id, environment, id });

  /** Deletes up to `limit` deliveries of deleted webhooks, finally those webhooks. Call inside a write. */
  function forgetDeleted(limit: number): number {
    const deletedWebhook = sqlite
      .query<WebhookKey, []>("SELECT project_id, environment, id FROM webhooks WHERE deleted_at_ms IS NOT NULL LIMIT 1")
      .get();
    if (!deletedWebhook) return 0;
    const { changes } = forgetOf.run(deletedWebhook.project_id, deletedWebhook.environment, deletedWebhook.id, limit);
    if (changes > 0) return changes;
    return sqlite
      .query("DELETE FROM webhooks WHERE project_id = ? AND environment = ? AND id = ?")
      .run(deletedWebhook.project_id, deletedWebhook.environment, deletedWebhook.id).changes;
  }

  return {
    list(viewer: Viewer, webhookId: string, page: Page) {
      webhook(viewer, webhookId);
      const { status = "", ...filters } = page.filters;
      const statusCondition = waitingConditions[status];
      return listPage(
        db,
        {
          table: webhookDeliveries,
          kind: "delivery",
          scope: viewer,
          page: statusCondition ? { ...page, filters } : page,
          within: scopeCondition(viewer, { webhook_id: webhookId }),
          where: [
            ...agentConditions(viewer, "(SELECT agent_id FROM runs WHERE runs.id = webhook_deliveries.run_id)"),
            ...(statusCondition ? [{ sql: statusCondition, values: [] }] : []),
          ],
        },
        serializeDelivery,
      );
    },

    get: (viewer: Viewer, webhookId: string, id: string) => serializeFull(find(viewer, webhookId, id)),

    /** Sends a test event once, also if the webhook is disabled; the outcome does not count. */
    async test(author: Author & Viewer, id: string) {
      requireUnrestrictedKey(author);
      const row = webhook(author, id);
      const { project_id, environment } = author;
      const event = { ...newDelivery, type: testEvent, run_id: null, seq: null, created_at_ms: now() } as const;
      const deliveryFields = { ...event, project_id, environment, id: newId("delivery", now()), webhook_id: id };
      const delivery: DeliveryRow = {
        ...deliveryFields,
        body: writeEvent(deliveryFields, { object: serializeWebhook(row) }),
      };
      const attempt = await dispatcher.tryOnce(row, delivery);
      if (!attempt) throw new AppError("shutting_down", stoppingBriefly, { retryAfter: 5 });
      return await db.write(() => {
        webhook(author, id);
        insert.run(project_id, environment, delivery.id, id, testEvent, event.created_at_ms);
        record(delivery, attempt.body, attempt.outcome);
        audit.note(author, "webhook.tested", id, { delivery_id: delivery.id });
        return serializeFull(find(author, id, delivery.id));
      });
    },

    /** Resends an event under the same id; the retry schedule starts over. */
    async redeliver(author: Author & Viewer, webhookId: string, id: string) {
      requireUnrestrictedKey(author);
      const result = await db.write(() => {
        const { type } = find(author, webhookId, id);
        sendAgain(author, [id]);
        audit.note(author, "delivery.redelivered", id, { webhook_id: webhookId, type });
        return serializeFull(find(author, webhookId, id));
      });
      wake(author, webhookId);
      return result;
    },

    /** Resends all deliveries since a time that failed or wait for a retry. */
    async redeliverAll(author: Author & Viewer, id: string, since: string) {
      requireUnrestrictedKey(author);
      const from = readTimestamp(since);
      if (from === null) throw invalid("since", timeExpected);
      let deliveries = 0;
      for (let after: string | undefined = ""; after !== undefined; ) {
        const cursor = after;
        after = await db.write(() => {
          webhook(author, id);
          if (cursor === "") audit.note(author, "webhook.redelivered", id, { since });
          const { project_id, environment } = author;
          const some = selectFailed.all(project_id, environment, id, cursor, from, againPerWrite);
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
