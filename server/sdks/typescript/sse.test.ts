import { expect, test } from "bun:test";
import { type Frame, readFrames } from "./sse.ts";

const text =
  'retry: 2000\r\nevent: token\r\nid: 12.3\r\ndata: {"delta":"blå 🌍"}\r\n\r\n: ping\n\ndata: a\ndata:b\ndata\nid\n\rid: 4\revent: run.completed\rdata: {}\r\rdata: cut off';
const expected: Frame[] = [
  { event: "token", id: "12.3", data: '{"delta":"blå 🌍"}' },
  { event: "message", id: "", data: "a\nb\n" },
  { event: "run.completed", id: "4", data: "{}" },
];

const bodyOf = (...chunks: Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

test("events do not depend on the split of the text, even within a character or between CR and LF", async () => {
  const bytes = new TextEncoder().encode(text);
  for (let first = 0; first <= bytes.length; first++) {
    const second = first + ((first * 7) % (bytes.length - first + 1));
    const body = bodyOf(bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second));
    expect(await Array.fromAsync(readFrames(body))).toEqual(expected);
  }
  expect(await Array.fromAsync(readFrames(bodyOf(...Array.from(bytes, (byte) => Uint8Array.of(byte)))))).toEqual(
    expected,
  );
});

test("a consumer that stops reading closes the connection", async () => {
  let left = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
    cancel: () => {
      left = true;
    },
  });
  for await (const _ of readFrames(body)) break;
  expect(left).toBe(true);
});
