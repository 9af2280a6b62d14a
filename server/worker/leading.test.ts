import { expect, test } from "bun:test";
import { whileLeading } from "./leading.ts";

const told = Object.assign(async () => new Response("told"), { preconnect: fetch.preconnect });
const at = (ms: number) => new BigInt64Array([BigInt(Date.now() + ms)]);

test("a request waits until its node is known to lead again, and leaves at once where it does", async () => {
  const until = at(-1);
  const request = whileLeading(until, told)("http://localhost/");
  const late = Symbol();
  expect(await Promise.race([request, new Promise((resolve) => setImmediate(resolve, late))])).toBe(late as never);
  Atomics.store(until, 0, at(60_000)[0]!);
  expect(await (await request).text()).toBe("told");
  expect(await (await whileLeading(until, told)("http://localhost/")).text()).toBe("told");
});

test("a request that is given up waits no more", async () => {
  const abort = new AbortController();
  const request = whileLeading(at(-1), told)("http://localhost/", { signal: abort.signal });
  abort.abort(new Error("given up"));
  await expect(request).rejects.toThrow("given up");
});
