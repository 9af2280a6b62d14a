import { nameOf } from "../../domain/scope.ts";
import { createFairSemaphore, type FairSemaphore } from "../../lib/fair-queue/fair-semaphore.ts";
import type { createIndexerBackoff } from "./indexer-backoff.ts";
import type { createIndexerQueue } from "./indexer-queue.ts";
import type { StoreRow, VectorStoreRow } from "./row.ts";

// Concurrent stores: four of one owner, and two more of other owners.
const slotsTotal = { count: 6, reserve: 2 };
// Per model, so that a slow model leaves places to others.
const slotsPerModel = { count: 4, reserve: 2 };

/** Schedules stores: round-robin over owners, each store once at a time, none in backoff. */
export function createIndexerScheduler({
  queue,
  rests,
  turn,
}: {
  queue: Pick<ReturnType<typeof createIndexerQueue>, "stores" | "store">;
  rests: Pick<ReturnType<typeof createIndexerBackoff>, "has" | "wake" | "next_ms">;
  /** Never rejects. */
  turn(store: VectorStoreRow): Promise<void>;
}) {
  const busy = new Map<string, Promise<void>>();
  const places = createFairSemaphore(slotsTotal);
  const placesByModel = new Map<string, FairSemaphore>();
  const lastOf = new Map<string, string>();
  let isRunning = true;
  let scheduled = false;
  let wakes = 0;
  let timer: Timer | undefined;

  function wake(): void {
    wakes++;
    rests.wake();
    schedule();
  }

  function schedule(): void {
    if (scheduled || !isRunning) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      pump();
    });
  }

  function pump(): void {
    if (!isRunning) return;
    clearTimeout(timer);
    const owners = Map.groupBy(queue.stores(), nameOf);
    for (let store = choose(owners); store; store = choose(owners)) begin(store);
    timer = setTimeout(wake, rests.next_ms()).unref();
  }

  /** Picks the next store of the next owner. Owners without a ready store are removed from the map. */
  function choose(owners: Map<string, StoreKeys[]>): VectorStoreRow | null {
    for (let owner = places.next(owners.keys()); owner !== null; owner = places.next(owners.keys())) {
      for (const key of after(owners.get(owner) ?? [], lastOf.get(owner) ?? "", ({ id }) => id)) {
        const store = busy.has(key.id) || rests.has(key.id) ? null : queue.store(key);
        if (!store || !placesOf(store).mayTake(owner)) continue;
        lastOf.set(owner, key.id);
        return store;
      }
      owners.delete(owner);
    }
    return null;
  }

  function placesOf({ next_model, model }: VectorStoreRow): FairSemaphore {
    const name = next_model ?? model;
    const known = placesByModel.get(name) ?? createFairSemaphore(slotsPerModel);
    placesByModel.set(name, known);
    return known;
  }

  function begin(store: VectorStoreRow): void {
    const owner = nameOf(store);
    const running = [places.take(owner), placesOf(store).take(owner)];
    const turnEnd = turn(store).finally(() => {
      busy.delete(store.id);
      for (const giveBack of running) giveBack();
      schedule();
    });
    busy.set(store.id, turnEnd);
  }

  return {
    schedule,
    /** Schedules turns after new work; idle stores are checked again. */
    wake,
    /** Number of calls of `wake`. */
    wakes: () => wakes,
    async idle(): Promise<void> {
      while (scheduled || busy.size > 0) await Promise.all(busy.values()).then(() => Bun.sleep(0));
    },
    /** Starts no more turns; resolves when the current ones end. */
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      await Promise.all(busy.values());
    },
  };
}

type StoreKeys = Pick<StoreRow, "project_id" | "environment" | "id">;

/** Rotates a sorted list to begin after a value. */
function after<T>(items: readonly T[], value: string, key: (item: T) => string): T[] {
  const at = items.findIndex((item) => key(item) > value);
  return at < 0 ? [...items] : [...items.slice(at), ...items.slice(0, at)];
}
