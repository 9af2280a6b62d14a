import { and, isNull } from "drizzle-orm";
import type { Db } from "../db/open.ts";
import { createRows } from "../db/rows.ts";
import { type webhookAttempts, type webhookDeliveries, webhooks } from "../db/schema.ts";

/** A webhook as the table holds it. */
export type WebhookRow = typeof webhooks.$inferSelect;

/** What one webhook is to hear of one event. */
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;

export type AttemptRow = typeof webhookAttempts.$inferSelect;

/** Webhooks that were not deleted, those of runs among them. */
export const createWebhookRows = (db: Pick<Db, "orm" | "sqlite">) =>
  createRows(db, webhooks, isNull(webhooks.deleted_at_ms));

/** Those that the project manages. */
export const createOwnWebhookRows = (db: Pick<Db, "orm" | "sqlite">) =>
  createRows(db, webhooks, and(isNull(webhooks.deleted_at_ms), isNull(webhooks.run_id)));
