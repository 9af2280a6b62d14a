import { nameOf, type Scope } from "../../domain/scope.ts";
import type { RunHead } from "../../storage/journal/journal.ts";

/** A run that waits for a slot. */
interface Waiting {
  head: RunHead;
  /** True if the run still has to be driven; otherwise the next one gets the slot. */
  isStillNeeded(): boolean;
  begin(): void;
}

/** Slot of a run while it is driven. */
export interface Slot {
  /**
   * Lends the slot until each `lend` has its `takeBack`: if all waiting parents kept theirs, their children might never
   * run.
   */
  lend(): void;
  /** Takes the slot back at once, even over the limit. */
  takeBack(): void;
  /** Releases the slot; idempotent. */
  release(): void;
}

export type Slots = ReturnType<typeof createSlots>;

/**
 * Assigns slots to runs. Root runs share the slots of their project and environment; child runs share an equal number,
 * divided between trees.
 */
export function createSlots({ limit }: { limit(scope: Scope): number }) {
  const busy = new Map<string, number>();
  const queues = new Map<string, Map<string, Waiting>>();
  // Keys of trees with a child run that is driven or waits, by project and environment.
  const trees = new Map<string, Set<string>>();
  let lent = 0;

  const treesOf = (scope: Scope): Set<string> => trees.get(nameOf(scope)) ?? new Set();

  function noteTree(head: RunHead): void {
    if (head.depth > 0) trees.set(nameOf(head), treesOf(head).add(keyOf(head)));
  }

  /** A tree has its share of the slots, and always at least one, so that a large tree does not starve it. */
  function isFree(head: RunHead): boolean {
    const ownCount = busy.get(keyOf(head)) ?? 0;
    if (head.depth === 0) return ownCount < limit(head);
    const sharers = treesOf(head);
    const usedSlots = [...sharers].reduce((sum, tree) => sum + (busy.get(tree) ?? 0), 0);
    return ownCount === 0 || (usedSlots < limit(head) && ownCount < Math.ceil(limit(head) / sharers.size));
  }

  /** Gives free slots to waiting runs. */
  function advance(key: string): void {
    const queue = queues.get(key);
    if (!queue) return;
    for (const [runId, { head, isStillNeeded: isStill, begin }] of queue) {
      const mayBegin = isStill();
      if (mayBegin && !isFree(head)) return;
      queue.delete(runId);
      if (mayBegin) begin();
    }
    queues.delete(key);
  }

  function occupy(head: RunHead): void {
    const key = keyOf(head);
    busy.set(key, (busy.get(key) ?? 0) + 1);
    noteTree(head);
  }

  function release(head: RunHead): void {
    const key = keyOf(head);
    const remaining = (busy.get(key) ?? 1) - 1;
    if (remaining > 0) busy.set(key, remaining);
    else busy.delete(key);
    if (head.depth > 0) forgetTrees(head); // The remaining trees get larger shares.
    advance(key);
    if (head.depth === 0) return;
    for (const tree of treesOf(head)) advance(tree);
    forgetTrees(head);
  }

  function forgetTrees(scope: Scope): void {
    const sharers = treesOf(scope);
    for (const tree of sharers) if (!busy.has(tree) && !queues.has(tree)) sharers.delete(tree);
    if (sharers.size === 0) trees.delete(nameOf(scope));
  }

  return {
    /** True if a slot is free and no run waits for it. */
    isOpen: (head: RunHead): boolean => (queues.get(keyOf(head))?.size ?? 0) === 0 && isFree(head),
    /** Begins the run now or when a slot is free. */
    wait(waiting: Waiting): void {
      const { head } = waiting;
      const key = keyOf(head);
      queues.set(key, (queues.get(key) ?? new Map<string, Waiting>()).set(head.run_id, waiting));
      noteTree(head);
      advance(key);
    },
    waits: (runId: string): boolean => [...queues.values()].some((queue) => queue.has(runId)),
    take(head: RunHead): Slot {
      let lendings = 0;
      let isGiven = false;
      occupy(head);
      return {
        lend() {
          if (isGiven || lendings++ > 0) return;
          lent++;
          release(head);
        },
        takeBack() {
          if (isGiven || --lendings > 0) return;
          lent--;
          occupy(head);
        },
        release() {
          if (isGiven) return;
          isGiven = true;
          if (lendings > 0) lent--;
          else release(head);
        },
      };
    },
    /** Number of slots that root runs of a scope take. */
    taken: (scope: Scope): number => busy.get(nameOf(scope)) ?? 0,
    /** Number of slots that child runs take, for each tree. */
    takenBelow: (scope: Scope): number[] => [...treesOf(scope)].map((tree) => busy.get(tree) ?? 0),
    lent: (): number => lent,
  };
}

/** Returns the key of the slots a run takes: its scope, or for child runs its tree. */
const keyOf = (head: RunHead): string => (head.depth === 0 ? nameOf(head) : head.root_run_id);
