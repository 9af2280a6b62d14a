import { siblingId } from "../core/ids.ts";
import { type Environment, nameOf } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { columnsOf } from "../db/rows.ts";
import { webhookDeliveries } from "../db/schema.ts";
import type { Egress } from "../lib/egress.ts";
import { failpoint } from "../lib/failpoint.ts";
import { createFairLines } from "../lib/fair/lines.ts";
import { createFairPlaces } from "../lib/fair/places.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import { httpsOnly } from "./address.ts";
import { attempt, type Outcome } from "./attempt.ts";
import type { WebhookKey } from "./outbox.ts";
import type { Payloads } from "./payload.ts";
import type { Recorder } from "./record.ts";
import { createWebhookRows, type DeliveryRow, type WebhookRow } from "./row.ts";
import { signingSecrets } from "./secrets.ts";

interface DispatcherOptions {
  db: Db;
  payloads: Payloads;
  record: Recorder;
  seal: Seal;
  egress: (environment: Environment) => Pick<Egress, "stream">;
  log: Log;
  now?: () => number;
  /** For one attempt in all. */
  attempt_ms: number;
}

export type Dispatcher = ReturnType<typeof createDispatcher>;

// At once, for one webhook and for all of them. One project's endpoints may be many, and take as long as they may.
const perWebhook = 4;
const inAll = { count: 128, reserve: 32 };
// A webhook with so many failures in a row has one attempt at a time, with a pause after each,
const troubledFrom = 5;
// and all such webhooks together leave most of the places to the others.
const forTroubled = { count: 32, reserve: 8 };
const longestPause_ms = 60_000;
// What is read and signed in one tick: requests wait meanwhile.
const perTick = 16;
// setTimeout counts in 32 bits: a longer wait would fire at once.
const longest_ms = 2 ** 31 - 1;

/** What one webhook still has to hear, apart from all others: one that is slow or dead holds up nobody else. */
interface Lane {
  key: WebhookKey;
  /** Its project and environment, whose places it takes. */
  owner: string;
  inFlight: Set<string>;
  /** When there is something to send; before that nobody looks. */
  due: number;
  failures: number;
  pausedUntil: number;
}

/**
 * Sends what the outbox holds. It is woken by commits and by one timer for the next attempt, and knows nothing that does
 * not stand in the database: an attempt whose end was not recorded is made again.
 */
export function createDispatcher(options: DispatcherOptions) {
  const { db, payloads, record, seal, egress, log, now = Date.now, attempt_ms } = options;
  const { sqlite } = db;
  const webhooks = createWebhookRows(db);
  const selectNext = sqlite.query<DeliveryRow, [string, string, string, number]>(
    `SELECT ${columnsOf(webhookDeliveries)} FROM webhook_deliveries WHERE project_id = ? AND environment = ? AND webhook_id = ?
       AND next_at_ms IS NOT NULL ORDER BY next_at_ms, id LIMIT ?`,
  );
  const selectWaiting = sqlite.query<WebhookKey, []>(
    `SELECT DISTINCT project_id, environment, webhook_id AS id FROM webhook_deliveries WHERE next_at_ms IS NOT NULL`,
  );
  const lanes = new Map<string, Lane>();
  const places = createFairPlaces(inAll);
  const placesOfTroubled = createFairPlaces(forTroubled);
  const work = new Set<Promise<void>>();
  const closing = new AbortController();
  let scheduled = false;
  let timer: Timer | undefined;

  /** To be called after a commit that has something for these webhooks. */
  function wake(keys: readonly WebhookKey[]): void {
    for (const key of keys) {
      const lane = lanes.get(key.id);
      if (lane) lane.due = 0;
      else {
        const owner = nameOf(key);
        lanes.set(key.id, { key, owner, inFlight: new Set(), due: 0, failures: 0, pausedUntil: 0 });
      }
    }
    if (keys.length > 0) schedule();
  }

  /** To be called where somebody says that a webhook is well again: it need not wait for the end of a pause. */
  function trust(key: WebhookKey): void {
    const lane = lanes.get(key.id);
    if (lane) Object.assign(lane, { failures: 0, pausedUntil: 0 });
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
    let left = perTick;
    const ready = createFairLines<Lane>();
    for (const lane of lanes.values()) if (mayBegin(lane, at)) ready.add(lane.owner, lane);
    const next = () => (left > 0 ? places.next(ready.owners()) : null);
    for (let owner = next(); owner !== null; owner = next()) {
      const lane = ready.next(owner)!;
      const sent = fill(lane, left, at);
      left -= sent;
      // Who was served goes behind the others: where places are few, each gets its turn.
      if (sent > 0) moveBehind(lane);
    }
    for (const lane of lanes.values())
      if (lane.due === Number.POSITIVE_INFINITY && lane.inFlight.size === 0) lanes.delete(lane.key.id);
    if (left <= 0) schedule();
    arm(at);
  }

  function moveBehind(lane: Lane): void {
    lanes.delete(lane.key.id);
    lanes.set(lane.key.id, lane);
  }

  const isTroubled = ({ failures }: Lane): boolean => failures >= troubledFrom;

  const mayBegin = (lane: Lane, at: number): boolean =>
    lane.due <= at && lane.pausedUntil <= at && lane.inFlight.size < (isTroubled(lane) ? 1 : perWebhook);

  function placesFor(lane: Lane): number {
    const { owner, inFlight } = lane;
    if (!isTroubled(lane)) return Math.min(perWebhook - inFlight.size, places.open(owner));
    return Math.min(1 - inFlight.size, placesOfTroubled.open(owner), places.open(owner));
  }

  /** Begins what is due and may begin now, at most `most`. Returns how many those were. */
  function fill(lane: Lane, most: number, at: number): number {
    const room = Math.min(most, placesFor(lane));
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
    const taken = [places.take(lane.owner)];
    if (isTroubled(lane)) taken.push(placesOfTroubled.take(lane.owner));
    const sending = send(lane, webhook, delivery)
      .catch((error) => {
        // Storage that takes no write now: it is sent again, but not without a pause.
        log.error("what came of a webhook could not be recorded", { webhook_id: webhook.id, error });
        pause(lane);
      })
      .finally(() => {
        work.delete(sending);
        for (const giveBack of taken) giveBack();
        lane.inFlight.delete(delivery.id);
        lane.due = 0;
        schedule();
      });
    work.add(sending);
  }

  async function send(lane: Lane, webhook: WebhookRow, delivery: DeliveryRow): Promise<void> {
    const tried = await tryOnce(webhook, delivery);
    if (!tried) return;
    const verdict = await db.write(() => record(delivery, tried.body, tried.outcome));
    if (verdict === "delivered") lane.failures = 0;
    else if (verdict === "failed") pause(lane);
    else if (verdict === "disabled")
      log.warn("a webhook was switched off", { webhook_id: webhook.id, url: new URL(webhook.url).host });
  }

  function pause(lane: Lane): void {
    lane.failures++;
    if (isTroubled(lane))
      lane.pausedUntil = now() + Math.min(longestPause_ms, 1000 * 2 ** Math.min(16, lane.failures - troubledFrom));
  }

  /** Sends a delivery, and says what came of it; null when it was given up because the server stops. */
  async function tryOnce(
    webhook: WebhookRow,
    delivery: DeliveryRow,
  ): Promise<{ body: string; outcome: Outcome } | null> {
    const { url, environment } = webhook;
    const at_ms = now();
    let body: string;
    try {
      body = await payloads.bodyOf(delivery);
    } catch (error) {
      // One event that cannot be written may not hold up those behind it.
      log.error("an event could not be written", { delivery_id: delivery.id, error });
      return { body: "", outcome: { ...unwritten, at_ms, request: { url, headers: {} } } };
    }
    failpoint?.("before_delivery");
    const outcome = await attempt({
      ...{ egress: egress(environment), url, httpsOnly: httpsOnly(url, environment) },
      ...{ secrets: signingSecrets(seal, webhook, at_ms), id: siblingId(delivery.id, "event"), body, at_ms },
      ...{ signal: closing.signal, limit_ms: attempt_ms },
    });
    failpoint?.("after_delivery");
    return outcome && { body, outcome };
  }

  /** What is due by now waits for a place, and whoever leaves one looks again. */
  function arm(at: number): void {
    clearTimeout(timer);
    if (closing.signal.aborted) return;
    const idle = [...lanes.values()].filter(({ inFlight }) => inFlight.size === 0);
    const next = idle.reduce((least, { due, pausedUntil }) => {
      const when = Math.max(due, pausedUntil);
      return when > at ? Math.min(least, when) : least;
    }, Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(schedule, Math.min(longest_ms, Math.max(10, next - now())));
    timer.unref();
  }

  /** Takes up what is still to be sent, as an earlier process left it. */
  const load = (): void => wake(selectWaiting.all());

  return {
    wake,
    trust,
    load,
    tryOnce,
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

const unwritten = {
  latency_ms: 0,
  response: null,
  error: { code: "internal_error", message: "The event could not be written. The server's log has the cause." },
  asked_ms: null,
};
