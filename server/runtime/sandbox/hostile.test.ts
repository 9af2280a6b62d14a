import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { hostileFaults } from "../../testing/hostile-faults.ts";
import { hostileJavaScript } from "../../testing/hostile-javascript.ts";
import { someOf } from "../../testing/hostile-python.ts";
import { createSandbox } from "./sandbox.ts";

const sandbox = createSandbox({ level: () => "strict", places: { count: 4, reserve: 0 }, spares: 2, idle_ms: 10_000 });
afterAll(() => sandbox.stop());

const children = () =>
  readdirSync(`/proc/${process.pid}/task`).flatMap((thread) =>
    Bun.file(`/proc/${process.pid}/task/${thread}/children`).text(),
  );
const childCount = async () => (await Promise.all(children())).join(" ").split(/\s+/).filter(Boolean).length;

// The executable runs all of them in e2e/sandbox.e2e.ts.
const some = someOf(hostileJavaScript, [
  "a loop that catches",
  "promises for ever",
  "a regular expression that backtracks",
  "a getter of an error's stack",
  "one buffer",
  "an array that grows",
  "a large text as the result",
  "a recursion in a proxy",
  "a circle as the result",
  "a promise that never comes",
  "an import of a file",
  "a path",
  "a file as large as the memory",
  "no host by the constructor of a function",
  "a broken promise",
  "a polluted prototype",
  "a function as the result",
  "what looks like an answer",
  "a recursion through JSON",
  "a finalizer",
  "a file that is changed",
]);

test("hostile JavaScript cannot exceed its time, memory or access: one program of each kind", async () => {
  let visits = 0;
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: () => void visits++, data() {} } });
  Bun.gc(true);
  const [before, resident] = [await childCount(), process.memoryUsage().rss];
  const never = new AbortController().signal;

  expect(await hostileFaults(some, (program) => sandbox.run(program, never))).toEqual([]);

  sandbox.stop();
  Bun.gc(true);
  expect(process.memoryUsage().rss - resident).toBeLessThan(150e6);
  while ((await childCount()) > before) await Bun.sleep(10); // The kernel removes killed processes asynchronously.
  expect(visits).toBe(0);
  expect(existsSync("/tmp/runnel-hostile")).toBe(false);
  listener.stop(true);
}, 60_000);

test("each hostile program has a unique name, and there are as many as promised", () => {
  expect(new Set(hostileJavaScript.map(({ name }) => name)).size).toBe(hostileJavaScript.length);
  expect(hostileJavaScript.length).toBeGreaterThanOrEqual(110);
});
