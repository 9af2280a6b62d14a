import { expect, test } from "bun:test";
import { createRequestQueue, type RequestQueue } from "./request-queue.ts";

/** Requests in order of execution; the first letter of a name is the owner. */
async function handled(queue: RequestQueue, names: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  const all = names.map(async (name) => {
    await queue(name[0]!);
    order.push(name);
  });
  await Promise.all(all);
  return order;
}

test("requests that are handled in time run at once, in order of arrival", () => {
  const queue = createRequestQueue(Number.POSITIVE_INFINITY);
  expect(["a", "a", "b", "a"].map(queue)).toEqual([null, null, null, null]);
});

test("requests that arrive faster than they are handled run round robin over owners", async () => {
  const order = await handled(createRequestQueue(-1), ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("other events are handled between two waiting requests", async () => {
  const queue = createRequestQueue(-1);
  const heard: string[] = [];
  const requests = ["a1", "a2", "a3"].map(async (name) => {
    await queue("a");
    heard.push(name);
  });
  setImmediate(() => heard.push("else"));
  await Promise.all(requests);
  expect(heard).toEqual(["a1", "a2", "else", "a3"]);
});
