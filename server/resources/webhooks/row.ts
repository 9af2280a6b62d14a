import { and, isNull } from "drizzle-orm";
import type { Db } from "../../storage/db/open.ts";
import { type webhookAttempts, type webhookDeliveries, webhooks } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";

/** A webhook row. */
export type WebhookRow = typeof webhooks.$inferSelect;

/** A delivery: one event for one webhook. */
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;

export type AttemptRow = typeof webhookAttempts.$inferSelect;

/** Webhooks that are not deleted, including those of runs. */
export const createWebhookRows = (db: Db) => createScopedTable(db, webhooks, isNull(webhooks.deleted_at_ms));

/** Webhooks that the project manages, without those of runs. */
export const createOwnWebhookRows = (db: Db) =>
  createScopedTable(db, webhooks, and(isNull(webhooks.deleted_at_ms), isNull(webhooks.run_id)));
