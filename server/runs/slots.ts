import { nameOf, type Scope } from "../core/scope.ts";
import type { RunHead } from "../journal/journal.ts";

/** A run that waits for its turn. */
interface Waiting {
  head: RunHead;
  /** Whether it still is to be driven: whoever is not takes no slot, and the next one gets it. */
  isStill(): boolean;
  begin(): void;
}

/** What a run takes while it is driven. */
export interface Slot {
  /** Others have it until as many times taken back: if all that wait kept theirs, those below might never get one. */
  lend(): void;
  /** Without waiting for another. */
  takeBack(): void;
  /** For good; given twice it counts once. */
  give(): void;
}

export type Slots = ReturnType<typeof createSlots>;

/**
 * Whose turn it is to be driven. Runs that no call started share the slots of their project and environment; those that
 * came of calls share as many again, by the tree that they belong to.
 */
export function createSlots({ limit }: { limit(scope: Scope): number }) {
  const busy = new Map<string, number>();
  const queues = new Map<string, Map<string, Waiting>>();
  // The keys of trees of which a run below the top is driven or waits for a slot, by their project and environment.
  const trees = new Map<string, Set<string>>();
  let lent = 0;

  const treesOf = (scope: Scope): Set<string> => trees.get(nameOf(scope)) ?? new Set();

  function noteTree(head: RunHead): void {
    if (head.depth > 0) trees.set(nameOf(head), treesOf(head).add(keyOf(head)));
  }

  /** A tree has its part of the slots, and one in any case: however many another has, its runs go on. */
  function isFree(head: RunHead): boolean {
    const own = busy.get(keyOf(head)) ?? 0;
    if (head.depth === 0) return own < limit(head);
    const sharers = treesOf(head);
    const taken = [...sharers].reduce((sum, tree) => sum + (busy.get(tree) ?? 0), 0);
    return own === 0 || (taken < limit(head) && own < Math.ceil(limit(head) / sharers.size));
  }

  /** Gives free slots to those who wait. */
  function advance(key: string): void {
    const queue = queues.get(key);
    for (const [runId, { head, isStill, begin }] of queue ?? []) {
      const mayBegin = isStill();
      if (mayBegin && !isFree(head)) return;
      queue!.delete(runId);
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
    const left = (busy.get(key) ?? 1) - 1;
    if (left > 0) busy.set(key, left);
    else busy.delete(key);
    if (head.depth > 0) forgetTrees(head); // Those that are left share what there is.
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
    /** Whether there is a slot that nobody waits for. */
    isOpen: (head: RunHead): boolean => (queues.get(keyOf(head))?.size ?? 0) === 0 && isFree(head),
    /** Lets the run begin now or when it is its turn. */
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
        give() {
          if (isGiven) return;
          isGiven = true;
          if (lendings > 0) lent--;
          else release(head);
        },
      };
    },
    /** How many of a scope are taken by runs that no call started. */
    taken: (scope: Scope): number => busy.get(nameOf(scope)) ?? 0,
    /** And by those below them, of each tree. */
    takenBelow: (scope: Scope): number[] => [...treesOf(scope)].map((tree) => busy.get(tree) ?? 0),
    lent: (): number => lent,
  };
}

/** Whose slot a run takes: one of its project and environment, or below the top one of its tree. */
const keyOf = (head: RunHead): string => (head.depth === 0 ? nameOf(head) : head.root_run_id);
