import { expect, test } from "bun:test";
import { pulledStream, sseComment, sseEvent, sseRetry } from "./sse.ts";

async function* counting(made: string[], abort?: AbortSignal) {
  for (let n = 0; n < 3; n++) {
    made.push(String(n));
    yield String(n);
  }
  if (abort) await new Promise((resolve) => abort.addEventListener("abort", resolve, { once: true }));
}

test("events, comments and the retry time are frames that end with an empty line", () => {
  expect(sseEvent("token", "2.5", '{"a":1}')).toBe('event: token\nid: 2.5\ndata: {"a":1}\n\n');
  expect(sseComment("ping")).toBe(": ping\n\n");
  expect(sseRetry(2000)).toBe("retry: 2000\n\n");
});

test("text is made only for a reader that takes it", async () => {
  const made: string[] = [];
  const reader = pulledStream(counting(made), new AbortController(), () => {}).getReader();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  expect(made).toEqual([]);
  await reader.read();
  expect(made).toEqual(["0"]);
});

test("a stream that is read to its end says once that it ended by itself", async () => {
  const ended: boolean[] = [];
  const stream = pulledStream(counting([]), new AbortController(), (byReader) => ended.push(byReader));
  expect(await new Response(stream).text()).toBe("012");
  expect(ended).toEqual([false]);
});

test("a reader that leaves while the next text is awaited ends the source, once", async () => {
  const ended: boolean[] = [];
  const abort = new AbortController();
  const texts = counting([], abort.signal);
  const reader = pulledStream(texts, abort, (byReader) => ended.push(byReader)).getReader();
  for (let n = 0; n < 3; n++) await reader.read();
  const waiting = reader.read();
  await reader.cancel();
  expect((await waiting).done).toBe(true);
  expect(await texts.next()).toEqual({ value: undefined, done: true });
  expect([abort.signal.aborted, ended]).toEqual([true, [true]]);
});
