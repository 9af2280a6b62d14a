import { expect, test } from "bun:test";
import { inTurn, noteLength, withRoom } from "./long-answers.ts";

const never = new AbortController().signal;
/** All that follows from what was just done has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const callOf = (owner: string, recorded = Promise.resolve(), tool_id = "tool_1") => ({ owner, recorded, tool_id });

/** Calls of owners that wait for room, and then go on until they are recorded. */
function fixture() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    call(name: string, signal = never, tool_id = "tool_1"): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      return withRoom(callOf(name[0]!, promise, tool_id), signal, async (beforeLong) => {
        if (tool_id === "tool_1") await beforeLong();
        if (tool_id === "tool_1") await beforeLong(); // A second attempt of the call keeps its room.
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

test("long answers have room for a few at a time, and an owner leaves some to others", async () => {
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

test("a call that fails or is given up leaves its room, and one that needs none takes none", async () => {
  const { begun, call, end } = fixture();
  const fails = (owner: string) =>
    withRoom(callOf(owner), never, async (beforeLong) => {
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
  expect(await withRoom(callOf("a"), never, async () => "short")).toBe("short");
  expect(begun).toHaveLength(4);
  for (let index = 0; index < 4; index++) await end(`a${index}`);
  await Promise.all(held);
});

test("a tool whose last answer was very long is not asked before there is room for the next", async () => {
  const { begun, call, end } = fixture();
  noteLength("tool_2", 2_000_000);
  const calls = Array.from({ length: 5 }, (_, index) => call(`a${index}`, never, "tool_2"));
  await settled();
  expect(begun).toEqual(["a0", "a1", "a2", "a3"]);
  for (let index = 0; index < 4; index++) await end(`a${index}`);
  expect(begun.at(-1)).toBe("a4");
  await end("a4");
  noteLength("tool_2", 2_000);
  calls.push(...Array.from({ length: 9 }, (_, index) => call(`b${index}`, never, "tool_2")));
  await Promise.all(calls); // None of these is recorded.
});

test("long answers are read one at a time, and an owner with many of them does not keep another waiting", async () => {
  const read: string[] = [];
  const first = Promise.withResolvers<void>();
  const wait = (owner: string, name: string) =>
    inTurn(owner, 100_000, never, async () => {
      read.push(name);
      if (name === "a1") await first.promise;
    });
  const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => wait(name[0]!, name));
  expect(await inTurn("a", 10, never, async () => "short")).toBe("short"); // It waits for nobody.
  first.resolve();
  await Promise.all(all);
  expect(read).toEqual(["a1", "b1", "a2", "a3", "a4"]);
});
