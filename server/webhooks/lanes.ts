import { nameOf } from "../core/scope.ts";
import { createFairLines } from "../lib/fair/lines.ts";
import { createFairPlaces } from "../lib/fair/places.ts";
import type { WebhookKey } from "./outbox.ts";

// At once, for one webhook and for all of them. One project's endpoints may be many, and take as long as they may.
const perWebhook = 4;
const inAll = { count: 128, reserve: 32 };
// A webhook with so many failures in a row has one attempt at a time, with a pause after each,
const troubledFrom = 5;
// and all such webhooks together leave most of the places to the others.
const forTroubled = { count: 32, reserve: 8 };
const longestPause_ms = 60_000;

/** What one webhook still has to hear, apart from all others: one that is slow or dead holds up nobody else. */
export interface Lane {
  key: WebhookKey;
  /** Its project and environment, whose places it takes. */
  owner: string;
  inFlight: Set<string>;
  /** When there is something to send; before that nobody looks. */
  due: number;
  failures: number;
  pausedUntil: number;
}

/** A lane for each webhook with something to send, and the places that they share. */
export function createLanes({ now }: { now: () => number }) {
  const lanes = new Map<string, Lane>();
  const places = createFairPlaces(inAll);
  const placesOfTroubled = createFairPlaces(forTroubled);

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

  return {
    /** There is something to send for these webhooks. */
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
    /** What failed before does not count any more. */
    trust(key: WebhookKey): void {
      const lane = lanes.get(key.id);
      if (lane) Object.assign(lane, { failures: 0, pausedUntil: 0 });
    },
    /** One more failure in a row; of many, a pause. */
    pause(lane: Lane): void {
      lane.failures++;
      if (isTroubled(lane))
        lane.pausedUntil = now() + Math.min(longestPause_ms, 1000 * 2 ** Math.min(16, lane.failures - troubledFrom));
    },
    /** How many more attempts a lane may begin now. */
    placesFor,
    /** Takes a place for an attempt; what it returns gives it back. */
    take(lane: Lane): () => void {
      const taken = [places.take(lane.owner)];
      if (isTroubled(lane)) taken.push(placesOfTroubled.take(lane.owner));
      return () => {
        for (const giveBack of taken) giveBack();
      };
    },
    /** Lets owners fill their lanes one after the other, `most` attempts in all. Returns how many were begun. */
    serve(at: number, most: number, fill: (lane: Lane, most: number) => number): number {
      let left = most;
      const ready = createFairLines<Lane>();
      for (const lane of lanes.values()) if (mayBegin(lane, at)) ready.add(lane.owner, lane);
      const next = () => (left > 0 ? places.next(ready.owners()) : null);
      for (let owner = next(); owner !== null; owner = next()) {
        const lane = ready.next(owner)!;
        const sent = fill(lane, left);
        left -= sent;
        // Who was served goes behind the others: where places are few, each gets its turn.
        if (sent > 0) moveBehind(lane);
      }
      for (const lane of lanes.values())
        if (lane.due === Number.POSITIVE_INFINITY && lane.inFlight.size === 0) lanes.delete(lane.key.id);
      return most - left;
    },
    /** When a lane is due that has nothing under way: what is due by now waits for a place, and whoever leaves one looks again. */
    nextAfter(at: number): number {
      const idle = [...lanes.values()].filter(({ inFlight }) => inFlight.size === 0);
      return idle.reduce((least, { due, pausedUntil }) => {
        const when = Math.max(due, pausedUntil);
        return when > at ? Math.min(least, when) : least;
      }, Number.POSITIVE_INFINITY);
    },
  };
}
