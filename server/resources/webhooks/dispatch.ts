import type { Db } from "../../storage/db/open.ts";
import { webhookDeliveries } from "../../storage/db/schema.ts";
import { columnsOf } from "../../storage/db/scoped-table.ts";
import { deliver, type Sending } from "./deliver.ts";
import { createDeliveryQueues, type DeliveryQueue } from "./delivery-queues.ts";
import type { DeliveryResults } from "./delivery-result.ts";
import type { Outcome } from "./http-attempt.ts";
import type { WebhookKey } from "./outbox.ts";
import { createWebhookRows, type DeliveryRow, type WebhookRow } from "./row.ts";

interface DispatcherOptions extends Omit<Sending, "now"> {
  db: Db;
  record: DeliveryResults;
  /** Called with the outcome of each attempt. */
  onTried?: (outcome: Outcome) => void;
  now?: () => number;
}

export type Dispatcher = ReturnType<typeof createDispatcher>;

// Deliveries read and signed per tick, because requests wait meanwhile.
const perTick = 16;
// Limit of setTimeout (32 bits): a longer delay would fire at once.
const longest_ms = 2 ** 31 - 1;

/**
 * Sends pending deliveries. Woken by commits and a timer for the next attempt. All state is in the database: an attempt
 * without a recorded outcome is repeated.
 */
export function createDispatcher(options: DispatcherOptions) {
  const { db, record, log, now = Date.now } = options;
  const { sqlite } = db;
  const webhooks = createWebhookRows(db);
  const selectNext = sqlite.query<DeliveryRow, [string, string, string, number]>(
    `SELECT ${columnsOf(webhookDeliveries)} FROM webhook_deliveries WHERE project_id = ? AND environment = ? AND webhook_id = ?
       AND next_at_ms IS NOT NULL ORDER BY next_at_ms, id LIMIT ?`,
  );
  const selectWaiting = sqlite.query<WebhookKey, []>(
    `SELECT DISTINCT project_id, environment, webhook_id AS id FROM webhook_deliveries WHERE next_at_ms IS NOT NULL`,
  );
  const lanes = createDeliveryQueues({ now });
  const work = new Set<Promise<void>>();
  const closing = new AbortController();
  const tryNow = (webhook: WebhookRow, delivery: DeliveryRow) =>
    deliver({ ...options, now }, webhook, delivery, closing.signal);
  let scheduled = false;
  let timer: Timer | undefined;

  /** Call after a commit with deliveries for these webhooks. */
  function wake(keys: readonly WebhookKey[]): void {
    lanes.open(keys);
    if (keys.length > 0) schedule();
  }

  /** Call when a client re-enables a webhook or changes its address: ends its pause. */
  function trust(key: WebhookKey): void {
    lanes.trust(key);
    wake([key]);
  }

  /** Deferred, so that other listeners of the commit go first. */
  function schedule(): void {
    if (scheduled || closing.signal.aborted) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (!closing.signal.aborted) pump();
    });
  }

  function pump(): void {
    const at = now();
    if (lanes.serve(at, perTick, (lane, most) => fill(lane, most, at)) === perTick) schedule();
    arm(at);
  }

  /** Starts up to `most` due attempts and returns their number. */
  function fill(lane: DeliveryQueue, most: number, at: number): number {
    const room = Math.min(most, lanes.placesFor(lane));
    if (room <= 0) return 0;
    const { project_id, environment, id } = lane.key;
    db.snapshot.begin();
    const webhook = webhooks.get(lane.key, id);
    const rows = webhook?.enabled ? selectNext.all(project_id, environment, id, room + lane.inFlight.size + 1) : [];
    const pendingRows = rows.filter((row) => !lane.inFlight.has(row.id));
    const due = pendingRows.filter(({ next_at_ms }) => next_at_ms !== null && next_at_ms <= at).slice(0, room);
    lane.due = pendingRows[due.length]?.next_at_ms ?? Number.POSITIVE_INFINITY;
    if (webhook) for (const row of due) begin(lane, webhook, row);
    return due.length;
  }

  function begin(lane: DeliveryQueue, webhook: WebhookRow, delivery: DeliveryRow): void {
    lane.inFlight.add(delivery.id);
    const giveBack = lanes.take(lane);
    const sending = send(lane, webhook, delivery)
      .catch((error) => {
        // Storage accepts no write now: the delivery is repeated after a pause.
        log.error("what came of a webhook could not be recorded", { webhook_id: webhook.id, error });
        lanes.pause(lane);
      })
      .finally(() => {
        work.delete(sending);
        giveBack();
        lane.inFlight.delete(delivery.id);
        lane.due = 0;
        schedule();
      });
    work.add(sending);
  }

  async function send(lane: DeliveryQueue, webhook: WebhookRow, delivery: DeliveryRow): Promise<void> {
    const attempt = await tryNow(webhook, delivery);
    if (!attempt) return;
    options.onTried?.(attempt.outcome);
    const verdict = await db.write(() => record(delivery, attempt.body, attempt.outcome));
    if (verdict === "delivered") lane.failures = 0;
    else if (verdict === "failed") lanes.pause(lane);
    else if (verdict === "disabled")
      log.warn("a webhook was switched off", { webhook_id: webhook.id, url: new URL(webhook.url).host });
  }

  function arm(at: number): void {
    clearTimeout(timer);
    if (closing.signal.aborted) return;
    const next = lanes.nextAfter(at);
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(schedule, Math.min(longest_ms, Math.max(10, next - now()))).unref();
  }

  /** Loads deliveries that an earlier process left. */
  const load = (): void => wake(selectWaiting.all());

  return {
    wake,
    trust,
    load,
    tryOnce: tryNow,
    /** Sends all due deliveries now and waits for the outcomes. */
    async drain(): Promise<void> {
      load();
      for (pump(); work.size > 0; pump()) await Promise.allSettled([...work]);
    },
    /** Aborts current attempts; the next start repeats them. */
    async stop(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      await Promise.allSettled([...work]);
    },
  };
}
