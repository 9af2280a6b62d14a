import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFairQueue } from "./queue.ts";

const never = new AbortController().signal;

/** Work that reports its start and ends on command. */
function fixture(options: { count: number; reserve: number }) {
  const queue = createFairQueue(options);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    /** Adds work by name; the first letter is its owner. */
    add(name: string, signal = never): Promise<string> {
      return queue.run(name[0]!, signal, async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        begun.push(name);
        ends.set(name, resolve);
        await promise;
        return name;
      });
    },
    async end(name: string): Promise<void> {
      ends.get(name)!();
      ends.delete(name);
      await settled();
    },
    underWay: () => [...ends.keys()],
  };
}

/** Resolves once all consequences of the last action have happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a fair queue", () => {
  test("lets a new owner start at once, however much work another owner has waiting", async () => {
    const { add, begun } = fixture({ count: 4, reserve: 1 });
    for (let index = 0; index < 60; index++) void add(`a${index}`);
    await settled();
    expect(begun).toEqual(["a0", "a1", "a2"]);
    void add("b");
    await settled();
    expect(begun.at(-1)).toBe("b");
  });

  test("reserves half of the free places for new owners", async () => {
    const { add, underWay } = fixture({ count: 16, reserve: 8 });
    for (const owner of "abcde") for (let index = 0; index < 20; index++) void add(`${owner}${index}`);
    await settled();
    const held = Map.groupBy(underWay(), ([owner]) => owner);
    expect([..."abcde"].map((owner) => held.get(owner)?.length ?? 0)).toEqual([8, 4, 2, 1, 1]);
  });

  test("keeps the order of each owner, and owners take turns", async () => {
    const { add, begun, end } = fixture({ count: 1, reserve: 0 });
    for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) void add(name);
    await settled();
    for (let at = 0; at < 5; at++) await end(begun.at(-1)!);
    expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  test("gives a free place to the owner with the fewest", async () => {
    const { add, begun, end } = fixture({ count: 5, reserve: 1 });
    for (const name of ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3"]) void add(name);
    await settled();
    expect(begun).toEqual(["a1", "a2", "a3", "a4", "b1"]);
    await end("a1");
    expect(begun).toHaveLength(5); // The last one is reserved for others.
    await end("a2");
    expect(begun.at(-1)).toBe("b2");
  });

  test("drops waiting work whose owner has left", async () => {
    const { add, begun, end } = fixture({ count: 1, reserve: 0 });
    void add("a1");
    const leaving = new AbortController();
    const left = add("b1", leaving.signal);
    void add("b2");
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    await end("a1");
    expect(begun).toEqual(["a1", "b2"]);
    await expect(add("a2", leaving.signal)).rejects.toThrow("gone");
  });

  test("tells work how many other works of its owner are running", async () => {
    const queue = createFairQueue({ count: 6, reserve: 1 });
    const ends = Promise.withResolvers<void>();
    const told: Record<string, number[]> = { a: [], b: [] };
    const run = (owner: string) =>
      queue.run(owner, never, async (beside) => {
        told[owner]!.push(beside);
        await ends.promise;
      });
    const all = [run("a"), run("a"), run("b"), run("a")];
    await settled();
    ends.resolve();
    await Promise.all(all);
    expect(told).toEqual({ a: [0, 1, 2], b: [0] });
  });

  test("gets its place back from failed work", async () => {
    const queue = createFairQueue({ count: 1, reserve: 0 });
    const fails = () => Promise.reject(new Error("broken"));
    await expect(queue.run("a", never, fails)).rejects.toThrow("broken");
    expect(await queue.run("b", never, async () => "done")).toBe("done");
  });

  type Act = { owner: string; leaves: boolean } | { ends: number };
  const acts = fc.array(
    fc.oneof(
      fc.record({ owner: fc.constantFrom("a", "b", "c", "d"), leaves: fc.boolean() }),
      fc.record({ ends: fc.nat() }),
    ) as fc.Arbitrary<Act>,
    { maxLength: 60 },
  );
  const sizes = fc
    .integer({ min: 1, max: 6 })
    .chain((count) => fc.record({ count: fc.constant(count), reserve: fc.integer({ min: 0, max: count >> 1 }) }));

  test("never exceeds its places, reserves none for owners without work, and starves no owner", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, acts, async (size, acts) => {
        const { add, begun, end, underWay } = fixture(size);
        const waiting = new Set<string>();
        let names = 0;
        const check = () => {
          for (const name of begun) waiting.delete(name);
          const held = Map.groupBy(underWay(), ([owner]) => owner!);
          expect(underWay().length).toBeLessThanOrEqual(size.count);
          for (const [, own] of held) expect(own.length).toBeLessThanOrEqual(size.count - size.reserve);
          if (underWay().length < size.count) for (const [owner] of waiting) expect(held.has(owner!)).toBe(true);
        };
        for (const act of acts) {
          if ("owner" in act) {
            const leaving = new AbortController();
            const name = `${act.owner}${++names}`;
            waiting.add(name);
            const done = add(name, leaving.signal).catch(() => waiting.delete(name));
            if (act.leaves) leaving.abort();
            if (act.leaves && waiting.has(name)) await Promise.race([done, settled()]);
            await settled();
          } else if (underWay().length > 0) await end(underWay()[act.ends % underWay().length]!);
          check();
        }
        while (underWay().length > 0) {
          await end(underWay()[0]!);
          check();
        }
        expect([...waiting]).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test("serves every owner that waits before it serves one twice", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(..."abcdef"), { minLength: 1, maxLength: 40 }), async (owners) => {
        const { add, begun, end } = fixture({ count: 1, reserve: 0 });
        owners.forEach((owner, index) => void add(`${owner}${index}`));
        await settled();
        for (let at = 1; at < owners.length; at++) {
          const left = new Set(owners.filter((owner, index) => !begun.includes(`${owner}${index}`)));
          const before = begun.map(([owner]) => owner!);
          await end(begun.at(-1)!);
          const served = before.lastIndexOf(begun.at(-1)![0]!);
          for (const other of left) expect(before.lastIndexOf(other)).toBeGreaterThanOrEqual(served);
        }
      }),
      { numRuns: 50 },
    );
  });
});
