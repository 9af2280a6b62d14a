import { nameOf } from "../core/scope.ts";
import { createFairPlaces, type FairPlaces } from "../lib/fair/places.ts";
import type { createIndexerQueue } from "./indexer-queue.ts";
import type { createRests } from "./indexer-rests.ts";
import type { StoreRow, VectorStoreRow } from "./row.ts";

// Stores at once: four of one owner, and two of others.
const inAll = { count: 6, reserve: 2 };
// So that one model that is slow, or never answers, leaves places to the others.
const perModel = { count: 4, reserve: 2 };

/** Which store has its turn: an owner after the other, each store once at a time, and none that rests. */
export function createTurns({
  queue,
  rests,
  turn,
}: {
  queue: Pick<ReturnType<typeof createIndexerQueue>, "stores" | "store">;
  rests: Pick<ReturnType<typeof createRests>, "has" | "wake" | "next_ms">;
  /** Never rejects. */
  turn(store: VectorStoreRow): Promise<void>;
}) {
  const busy = new Map<string, Promise<void>>();
  const places = createFairPlaces(inAll);
  const placesByModel = new Map<string, FairPlaces>();
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

  /** The next store of the next owner; who has none that can begin is left out from then on. */
  function choose(owners: Map<string, StoreKeys[]>): VectorStoreRow | null {
    for (let owner = places.next(owners.keys()); owner !== null; owner = places.next(owners.keys())) {
      for (const key of after(owners.get(owner)!, lastOf.get(owner) ?? "", ({ id }) => id)) {
        const store = busy.has(key.id) || rests.has(key.id) ? null : queue.store(key);
        if (!store || !placesOf(store).mayTake(owner)) continue;
        lastOf.set(owner, key.id);
        return store;
      }
      owners.delete(owner);
    }
    return null;
  }

  function placesOf({ next_model, model }: VectorStoreRow): FairPlaces {
    const name = next_model ?? model;
    const known = placesByModel.get(name) ?? createFairPlaces(perModel);
    placesByModel.set(name, known);
    return known;
  }

  function begin(store: VectorStoreRow): void {
    const owner = nameOf(store);
    const taken = [places.take(owner), placesOf(store).take(owner)];
    const done = turn(store).finally(() => {
      busy.delete(store.id);
      for (const giveBack of taken) giveBack();
      schedule();
    });
    busy.set(store.id, done);
  }

  return {
    schedule,
    /** There is something to do that was not there before: whoever rests is asked again. */
    wake,
    /** How often that was. */
    wakes: () => wakes,
    async idle(): Promise<void> {
      while (scheduled || busy.size > 0) await Promise.all(busy.values()).then(() => Bun.sleep(0));
    },
    /** No turn begins any more; returns when those under way are over. */
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      await Promise.all(busy.values());
    },
  };
}

type StoreKeys = Pick<StoreRow, "project_id" | "environment" | "id">;

/** All of a sorted list, beginning with what follows a value. */
function after<T>(items: readonly T[], value: string, key: (item: T) => string): T[] {
  const at = items.findIndex((item) => key(item) > value);
  return at < 0 ? [...items] : [...items.slice(at), ...items.slice(0, at)];
}
