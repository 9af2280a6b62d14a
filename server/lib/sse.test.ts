import { expect, jest, test } from "bun:test";
import { pulledStream, sseComment, sseError, sseEvent, sseRetry } from "./sse.ts";

async function* counting(made: string[], abort?: AbortSignal) {
  for (let n = 0; n < 3; n++) {
    made.push(String(n));
    yield String(n);
  }
  if (abort) await new Promise((resolve) => abort.addEventListener("abort", resolve, { once: true }));
}

test("events and comments end with an empty line; the retry time is a line at the head of one", () => {
  expect(sseEvent("token", "2.5", '{"a":1}')).toBe('event: token\nid: 2.5\ndata: {"a":1}\n\n');
  expect(sseComment("ping")).toBe(": ping\n\n");
  expect(sseError('{"a":1}')).toBe('event: error\ndata: {"a":1}\n\n');
  expect(sseRetry(2000)).toBe("retry: 2000\n");
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

test("a source that breaks is let go, and its reader is told", async () => {
  const ended: boolean[] = [];
  const abort = new AbortController();
  async function* broken() {
    yield "0";
    throw new Error("The journal is damaged.");
  }
  const reader = pulledStream(broken(), abort, (byReader) => ended.push(byReader)).getReader();
  await reader.read();
  await expect(reader.read()).rejects.toThrow("damaged");
  expect([abort.signal.aborted, ended]).toEqual([true, [false]]);
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

/** A stream of three texts whose reader is given up after 60 ms of fake time. */
function impatient() {
  const ended: boolean[] = [];
  const abort = new AbortController();
  const texts = counting([], abort.signal);
  const stream = pulledStream(texts, abort, (byReader) => ended.push(byReader), 60);
  return { ended, abort, texts, reader: stream.getReader() };
}

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

test("a reader that takes nothing for long enough is given up, and told so if it ever comes back", async () => {
  jest.useFakeTimers();
  try {
    const { ended, abort, texts, reader } = impatient();
    await reader.read();
    jest.advanceTimersByTime(60);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(10);
    expect([ended, abort.signal.aborted]).toEqual([[true], true]);
    expect((await texts.next()).done).toBe(true);
    await expect(reader.read()).rejects.toThrow("took nothing");
    jest.advanceTimersByTime(600);
    expect(ended).toEqual([true]);
  } finally {
    jest.useRealTimers();
  }
});

test("a stream that nobody ever reads is given up too", () => {
  jest.useFakeTimers();
  try {
    const { ended } = impatient();
    jest.advanceTimersByTime(70);
    expect(ended).toEqual([true]);
  } finally {
    jest.useRealTimers();
  }
});

test("a reader that is slow, or waits for a source that is silent, is not given up", async () => {
  jest.useFakeTimers();
  try {
    const { ended, reader } = impatient();
    for (let n = 0; n < 3; n++) {
      jest.advanceTimersByTime(60);
      await reader.read();
    }
    const waiting = reader.read();
    await settle();
    jest.advanceTimersByTime(600);
    expect(ended).toEqual([]);
    await reader.cancel();
    expect((await waiting).done).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});
