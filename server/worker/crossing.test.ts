import { expect, test } from "bun:test";
import { pack, unpack } from "./crossing.ts";
import type { Notice } from "./messages.ts";

const ask = (ticket: number, question: Extract<Notice, { do: "ask" }>["question"]): Notice => ({
  do: "ask",
  ...{ run_id: "run_1", attempt: 1, ticket, question },
});
const keep = (ticket: number, content: Uint8Array) =>
  ask(ticket, { of: "keep_file", file_id: `file_${ticket}`, content });

test("notices without bytes cross as one string", () => {
  const notices: Notice[] = [{ do: "pong" }, ask(1, { of: "sandbox" })];
  const { crossing, transfer } = pack(notices);
  expect(typeof crossing).toBe("string");
  expect(transfer).toEqual([]);
  expect(unpack(crossing)).toEqual(notices);
});

test("bytes are moved and not copied, and come to the notice that they belong to", () => {
  const part = new TextEncoder().encode("a long story").subarray(2, 6);
  const whole = new Uint8Array([1, 2, 3]);
  const notices = [keep(1, part), { do: "pong" } as const, keep(2, new Uint8Array()), keep(3, whole)];
  const { crossing, transfer } = pack(notices);
  const crossed = unpack(structuredClone(crossing, { transfer }));
  const expected = ["long", "", "\u0001\u0002\u0003"].map((text) => new TextEncoder().encode(text));
  expect(crossed).toEqual([keep(1, expected[0]!), { do: "pong" }, keep(2, expected[1]!), keep(3, expected[2]!)]);
  expect(whole.byteLength).toBe(0);
  expect(part.byteLength).toBe(4); // The rest of its memory is somebody else's.
});
