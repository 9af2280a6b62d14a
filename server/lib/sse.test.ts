import { expect, jest, test } from "bun:test";
import { pulledStream, sseComment, sseError, sseEvent, sseRetry, type TextSource } from "./sse.ts";

/** Three texts, and an end unless `endless`; records the texts made and the stop. */
function counting(made: string[] = [], { endless = false } = {}) {
  const source = {
    stopped: 0,
    wake: () => {},
    open: (wake: () => void): TextSource => {
      source.wake = wake;
      return {
        next() {
          if (made.length === 3) return endless && source.stopped === 0 ? null : undefined;
          made.push(String(made.length));
          return made.at(-1)!;
        },
        stop() {
          source.stopped++;
        },
      };
    },
  };
  return source;
}

test("events and comments end with an empty line; the retry delay is a line before one", () => {
  expect(sseEvent("token", "2.5", '{"a":1}')).toBe('event: token\nid: 2.5\ndata: {"a":1}\n\n');
  expect(sseComment("ping")).toBe(": ping\n\n");
  expect(sseError('{"a":1}')).toBe('event: error\ndata: {"a":1}\n\n');
  expect(sseRetry(2000)).toBe("retry: 2000\n");
});

test("text is made only for a reader that takes it", async () => {
  const made: string[] = [];
  const source = counting(made);
  const reader = pulledStream(source.open, () => {}).getReader();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  source.wake();
  expect(made).toEqual([]);
  await reader.read();
  source.wake();
  expect(made).toEqual(["0"]);
});

test("new text is pushed to a waiting reader", async () => {
  const said: (string | null)[] = [];
  let wake = () => {};
  const texts: TextSource = { next: () => said.shift() ?? null, stop() {} };
  const stream = pulledStream(
    (own) => {
      wake = own;
      return texts;
    },
    () => {},
  );
  const waiting = stream.getReader().read();
  wake(); // Without new text.
  said.push("at last");
  wake();
  expect(new TextDecoder().decode((await waiting).value)).toBe("at last");
});

test("a stream read to its end reports once that it ended by itself", async () => {
  const ended: boolean[] = [];
  const source = counting();
  const stream = pulledStream(source.open, (byReader) => ended.push(byReader));
  expect(await new Response(stream).text()).toBe("012");
  expect([ended, source.stopped]).toEqual([[false], 1]);
});

test("a failing source is released, and its reader gets the error", async () => {
  const ended: boolean[] = [];
  let [said, stopped] = [0, false];
  const broken = (): TextSource => ({
    next() {
      if (said++ === 0) return "0";
      throw new Error("The journal is damaged.");
    },
    stop() {
      stopped = true;
    },
  });
  const reader = pulledStream(broken, (byReader) => ended.push(byReader)).getReader();
  await reader.read();
  await expect(reader.read()).rejects.toThrow("damaged");
  expect([stopped, ended]).toEqual([true, [false]]);
});

test("a reader that leaves while the next text is awaited ends the source once", async () => {
  const ended: boolean[] = [];
  const source = counting([], { endless: true });
  const reader = pulledStream(source.open, (byReader) => ended.push(byReader)).getReader();
  for (let n = 0; n < 3; n++) await reader.read();
  const waiting = reader.read();
  await reader.cancel();
  expect((await waiting).done).toBe(true);
  source.wake();
  expect([source.stopped, ended]).toEqual([1, [true]]);
});

/** A stream of three texts whose reader is dropped after six seconds of fake time. */
function impatient() {
  const ended: boolean[] = [];
  const source = counting([], { endless: true });
  const stream = pulledStream(source.open, (byReader) => ended.push(byReader), 6000);
  return { ended, source, reader: stream.getReader() };
}

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

test("a stalled reader is dropped, and gets an error if it returns", async () => {
  jest.useFakeTimers();
  try {
    const { ended, source, reader } = impatient();
    await reader.read();
    jest.advanceTimersByTime(6000);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect([ended, source.stopped]).toEqual([[true], 1]);
    await expect(reader.read()).rejects.toThrow("took nothing");
    jest.advanceTimersByTime(60_000);
    expect(ended).toEqual([true]);
  } finally {
    jest.useRealTimers();
  }
});

test("a stream that is never read is dropped too", () => {
  jest.useFakeTimers();
  try {
    const { ended } = impatient();
    jest.advanceTimersByTime(7000);
    expect(ended).toEqual([true]);
  } finally {
    jest.useRealTimers();
  }
});

test("a slow reader, or one of a silent source, is not dropped", async () => {
  jest.useFakeTimers();
  try {
    const { ended, reader } = impatient();
    for (let n = 0; n < 3; n++) {
      jest.advanceTimersByTime(6000);
      await reader.read();
    }
    const waiting = reader.read();
    await settle();
    jest.advanceTimersByTime(60_000);
    expect(ended).toEqual([]);
    await reader.cancel();
    expect((await waiting).done).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});
