import { expect, test } from "bun:test";
import { inTurn } from "./in-turn.ts";

const long = 100_000;
const never = new AbortController().signal;

test("long answers are read one at a time, and an owner with many of them does not keep another waiting", async () => {
  const read: string[] = [];
  const first = Promise.withResolvers<void>();
  const wait = (owner: string, name: string) =>
    inTurn(owner, long, never, async () => {
      read.push(name);
      if (name === "a1") await first.promise;
    });
  const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => wait(name[0]!, name));
  expect(await inTurn("a", 10, never, async () => "short")).toBe("short"); // It waits for nobody.
  first.resolve();
  await Promise.all(all);
  expect(read).toEqual(["a1", "b1", "a2", "a3", "a4"]);
});
