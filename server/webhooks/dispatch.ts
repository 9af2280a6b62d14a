import type { Db } from "../db/open.ts";
import { columnsOf } from "../db/rows.ts";
import { webhookDeliveries } from "../db/schema.ts";
import type { Outcome } from "./attempt.ts";
import { createLanes, type Lane } from "./lanes.ts";
import type { WebhookKey } from "./outbox.ts";
import type { Recorder } from "./record.ts";
import { createWebhookRows, type DeliveryRow, type WebhookRow } from "./row.ts";
import { type Sending, tryOnce } from "./try-once.ts";

interface DispatcherOptions extends Omit<Sending, "now"> {
  db: Db;
  record: Recorder;
  /** Told what each attempt came to. */
  onTried?: (outcome: Outcome) => void;
  now?: () => number;
}

export type Dispatcher = ReturnType<typeof createDispatcher>;

// What is read and signed in one tick: requests wait meanwhile.
const perTick = 16;
// setTimeout counts in 32 bits: a longer wait would fire at once.
const longest_ms = 2 ** 31 - 1;

/**
 * Sends what the outbox holds. It is woken by commits and by one timer for the next attempt, and knows nothing that does
 * not stand in the database: an attempt whose end was not recorded is made again.
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
  const lanes = createLanes({ now });
  const work = new Set<Promise<void>>();
  const closing = new AbortController();
  const tryNow = (webhook: WebhookRow, delivery: DeliveryRow) =>
    tryOnce({ ...options, now }, webhook, delivery, closing.signal);
  let scheduled = false;
  let timer: Timer | undefined;

  /** To be called after a commit that has something for these webhooks. */
  function wake(keys: readonly WebhookKey[]): void {
    lanes.open(keys);
    if (keys.length > 0) schedule();
  }

  /** To be called where somebody says that a webhook is well again: it need not wait for the end of a pause. */
  function trust(key: WebhookKey): void {
    lanes.trust(key);
    wake([key]);
  }

  /** Not within the commit that woke us: others are told of it first. */
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

  /** Begins what is due and may begin now, at most `most`. Returns how many those were. */
  function fill(lane: Lane, most: number, at: number): number {
    const room = Math.min(most, lanes.placesFor(lane));
    if (room <= 0) return 0;
    const { project_id, environment, id } = lane.key;
    db.snapshot.begin();
    const webhook = webhooks.get(lane.key, id);
    const rows = webhook?.enabled ? selectNext.all(project_id, environment, id, room + lane.inFlight.size + 1) : [];
    const waiting = rows.filter((row) => !lane.inFlight.has(row.id));
    const due = waiting.filter(({ next_at_ms }) => next_at_ms! <= at).slice(0, room);
    lane.due = waiting[due.length]?.next_at_ms ?? Number.POSITIVE_INFINITY;
    for (const row of due) begin(lane, webhook!, row);
    return due.length;
  }

  function begin(lane: Lane, webhook: WebhookRow, delivery: DeliveryRow): void {
    lane.inFlight.add(delivery.id);
    const giveBack = lanes.take(lane);
    const sending = send(lane, webhook, delivery)
      .catch((error) => {
        // Storage that takes no write now: it is sent again, but not without a pause.
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

  async function send(lane: Lane, webhook: WebhookRow, delivery: DeliveryRow): Promise<void> {
    const tried = await tryNow(webhook, delivery);
    if (!tried) return;
    options.onTried?.(tried.outcome);
    const verdict = await db.write(() => record(delivery, tried.body, tried.outcome));
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

  /** Takes up what is still to be sent, as an earlier process left it. */
  const load = (): void => wake(selectWaiting.all());

  return {
    wake,
    trust,
    load,
    tryOnce: tryNow,
    /** Sends all that is due, now, and waits for what comes of it. */
    async drain(): Promise<void> {
      load();
      for (pump(); work.size > 0; pump()) await Promise.allSettled([...work]);
    },
    /** Gives up what is under way: the next start sends it again. */
    async stop(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      await Promise.allSettled([...work]);
    },
  };
}
