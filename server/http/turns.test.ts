import { expect, test } from "bun:test";
import { createTurns, type Turn } from "./turns.ts";

/** Asks for a turn for each name, whose first letter is its owner, and says in which order they had it. */
async function handled(turn: Turn, names: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  const all = names.map(async (name) => {
    await turn(name[0]!);
    order.push(name);
  });
  await Promise.all(all);
  return order;
}

test("requests that are handled in time go in the order in which they came, at once", () => {
  const turn = createTurns(Number.POSITIVE_INFINITY);
  expect(["a", "a", "b", "a"].map(turn)).toEqual([null, null, null, null]);
});

test("where they come faster than they are handled, owners take turns", async () => {
  const order = await handled(createTurns(-1), ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("everything else is heard between two requests that wait", async () => {
  const turn = createTurns(-1);
  const heard: string[] = [];
  const requests = ["a1", "a2", "a3"].map(async (name) => {
    await turn("a");
    heard.push(name);
  });
  setImmediate(() => heard.push("else"));
  await Promise.all(requests);
  expect(heard).toEqual(["a1", "a2", "else", "a3"]);
});
