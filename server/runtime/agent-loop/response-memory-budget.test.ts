import { expect, test } from "bun:test";
import { inTurn, recordLength, withMemoryBudget } from "./response-memory-budget.ts";

const never = new AbortController().signal;
/** Resolves once all effects of the previous call have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const callOf = (owner: string, recorded = Promise.resolve(), tool_id = "tool_1") => ({ owner, recorded, tool_id });

/** Creates calls of owners that wait for memory and hold it until they are recorded. */
function fixture() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    call(name: string, signal = never, tool_id = "tool_1"): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      return withMemoryBudget(callOf(name[0]!, promise, tool_id), signal, async (beforeLong) => {
        if (tool_id === "tool_1") await beforeLong();
        if (tool_id === "tool_1") await beforeLong(); // A retry of the call keeps its slot.
        begun.push(name);
        return name;
      });
    },
    async end(name: string): Promise<void> {
      ends.get(name)!();
      await settled();
    },
  };
}

test("long responses have a few slots, and one owner never takes all of them", async () => {
  const { begun, call, end } = fixture();
  const calls = Array.from({ length: 6 }, (_, index) => call(`a${index}`));
  await settled();
  expect(begun).toEqual(["a0", "a1", "a2", "a3"]);
  calls.push(call("b0"));
  await settled();
  expect(begun.at(-1)).toBe("b0");
  for (const name of ["b0", "a0", "a1", "a2", "a3", "a4", "a5"]) await end(name);
  expect(await Promise.all(calls)).toEqual(["a0", "a1", "a2", "a3", "a4", "a5", "b0"]);
});

test("a failed or aborted call frees its slot, and a short response takes none", async () => {
  const { begun, call, end } = fixture();
  const fails = (owner: string) =>
    withMemoryBudget(callOf(owner), never, async (beforeLong) => {
      await beforeLong();
      throw new Error("broken");
    });
  for (let index = 0; index < 10; index++) await expect(fails("a")).rejects.toThrow("broken");
  const held = Array.from({ length: 4 }, (_, index) => call(`a${index}`));
  await settled();
  const leaving = new AbortController();
  const left = call("a9", leaving.signal);
  await settled();
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  expect(await withMemoryBudget(callOf("a"), never, async () => "short")).toBe("short");
  expect(begun).toHaveLength(4);
  for (let index = 0; index < 4; index++) await end(`a${index}`);
  await Promise.all(held);
});

test("a tool whose last response was very long is called only once a slot is free", async () => {
  const { begun, call, end } = fixture();
  recordLength("tool_2", 2_000_000);
  const calls = Array.from({ length: 5 }, (_, index) => call(`a${index}`, never, "tool_2"));
  await settled();
  expect(begun).toEqual(["a0", "a1", "a2", "a3"]);
  for (let index = 0; index < 4; index++) await end(`a${index}`);
  expect(begun.at(-1)).toBe("a4");
  await end("a4");
  recordLength("tool_2", 2_000);
  calls.push(...Array.from({ length: 9 }, (_, index) => call(`b${index}`, never, "tool_2")));
  await Promise.all(calls); // None of these is recorded.
});

test("long responses are read one at a time, and owners take turns", async () => {
  const read: string[] = [];
  const first = Promise.withResolvers<void>();
  const wait = (owner: string, name: string) =>
    inTurn(owner, 100_000, never, async () => {
      read.push(name);
      if (name === "a1") await first.promise;
    });
  const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => wait(name[0]!, name));
  expect(await inTurn("a", 10, never, async () => "short")).toBe("short"); // Short responses do not wait.
  first.resolve();
  await Promise.all(all);
  expect(read).toEqual(["a1", "b1", "a2", "a3", "a4"]);
});
