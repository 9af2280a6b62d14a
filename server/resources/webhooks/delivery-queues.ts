import { nameOf } from "../../domain/scope.ts";
import { createFairSemaphore } from "../../lib/fair-queue/fair-semaphore.ts";
import { createRoundRobin } from "../../lib/fair-queue/round-robin.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { WebhookKey } from "./outbox.ts";

// Concurrent attempts per webhook and in total. One project may have many slow endpoints.
const perWebhook = 4;
const inAll = { count: 128, reserve: 32 };
// After this number of consecutive failures, a webhook has one attempt at a time, with a pause after each,
const troubledFrom = 5;
// and all such webhooks together use only a few of the places.
const forTroubled = { count: 32, reserve: 8 };
const longestPause_ms = 60_000;

/** One queue per webhook, so that a slow endpoint delays only itself. */
export interface DeliveryQueue {
  key: WebhookKey;
  /** Project and environment, for fair shares. */
  owner: string;
  inFlight: Set<string>;
  /** Time of the next delivery; not polled before. */
  due: number;
  failures: number;
  pausedUntil: number;
}

/** Queues of webhooks with pending deliveries, and the places that they share. */
export function createDeliveryQueues({ now }: { now: () => number }) {
  const lanes = new Map<string, DeliveryQueue>();
  const places = createFairSemaphore(inAll);
  const placesOfTroubled = createFairSemaphore(forTroubled);

  function moveBehind(lane: DeliveryQueue): void {
    lanes.delete(lane.key.id);
    lanes.set(lane.key.id, lane);
  }

  const isTroubled = ({ failures }: DeliveryQueue): boolean => failures >= troubledFrom;

  const mayBegin = (lane: DeliveryQueue, at: number): boolean =>
    lane.due <= at && lane.pausedUntil <= at && lane.inFlight.size < (isTroubled(lane) ? 1 : perWebhook);

  function placesFor(lane: DeliveryQueue): number {
    const { owner, inFlight } = lane;
    if (!isTroubled(lane)) return Math.min(perWebhook - inFlight.size, places.open(owner));
    return Math.min(1 - inFlight.size, placesOfTroubled.open(owner), places.open(owner));
  }

  return {
    /** Marks webhooks as having deliveries to send. */
    open(keys: readonly WebhookKey[]): void {
      for (const key of keys) {
        const lane = lanes.get(key.id);
        if (lane) lane.due = 0;
        else {
          const owner = nameOf(key);
          lanes.set(key.id, { key, owner, inFlight: new Set(), due: 0, failures: 0, pausedUntil: 0 });
        }
      }
    },
    /** Resets a webhook's failures. */
    trust(key: WebhookKey): void {
      const lane = lanes.get(key.id);
      if (lane) Object.assign(lane, { failures: 0, pausedUntil: 0 });
    },
    /** Counts a failure; after several in a row, pauses the webhook. */
    pause(lane: DeliveryQueue): void {
      lane.failures++;
      if (isTroubled(lane))
        lane.pausedUntil = now() + Math.min(longestPause_ms, 1000 * 2 ** Math.min(16, lane.failures - troubledFrom));
    },
    /** Number of attempts that a queue may start now. */
    placesFor,
    /** Takes a place for an attempt; returns a function to release it. */
    take(lane: DeliveryQueue): () => void {
      const releases = [places.take(lane.owner)];
      if (isTroubled(lane)) releases.push(placesOfTroubled.take(lane.owner));
      return () => {
        for (const giveBack of releases) giveBack();
      };
    },
    /** Lets owners take turns, `most` attempts in total. Returns the number of started attempts. */
    serve(at: number, most: number, fill: (lane: DeliveryQueue, most: number) => number): number {
      let remaining = most;
      const ready = createRoundRobin<DeliveryQueue>();
      for (const lane of lanes.values()) if (mayBegin(lane, at)) ready.add(lane.owner, lane);
      const next = () => (remaining > 0 ? places.next(ready.owners()) : null);
      for (let owner = next(); owner !== null; owner = next()) {
        const lane = requireValue(ready.next(owner), "A queue of the owner");
        const startedCount = fill(lane, remaining);
        remaining -= startedCount;
        // Move a served queue behind the others, so that few places rotate.
        if (startedCount > 0) moveBehind(lane);
      }
      for (const lane of lanes.values())
        if (lane.due === Number.POSITIVE_INFINITY && lane.inFlight.size === 0) lanes.delete(lane.key.id);
      return most - remaining;
    },
    /**
     * Time when the next idle queue is due. Queues due earlier wait for a place; the attempt that releases one polls
     * again.
     */
    nextAfter(at: number): number {
      const idle = [...lanes.values()].filter(({ inFlight }) => inFlight.size === 0);
      return idle.reduce((least, { due, pausedUntil }) => {
        const when = Math.max(due, pausedUntil);
        return when > at ? Math.min(least, when) : least;
      }, Number.POSITIVE_INFINITY);
    },
  };
}
