import { expect, test } from "bun:test";
import { coalesce, decode, encode } from "./message-codec.ts";
import type { FromWorker } from "./messages.ts";

const ask = (ticket: number, question: Extract<FromWorker, { do: "ask" }>["question"]): FromWorker => ({
  do: "ask",
  run_id: "run_1",
  attempt: 1,
  ticket,
  question,
});
const keep = (ticket: number, content: Uint8Array) =>
  ask(ticket, { of: "keep_file", file_id: `file_${ticket}`, content });

test("messages without bytes are sent as one string", () => {
  const notices: FromWorker[] = [{ do: "pong" }, ask(1, { of: "sandbox" })];
  const { crossing, transfer } = encode(notices);
  expect(typeof crossing).toBe("string");
  expect(transfer).toEqual([]);
  expect(decode(crossing)).toEqual(notices);
});

test("bytes are transferred, not copied, and arrive with their message", () => {
  const part = new TextEncoder().encode("a long story").subarray(2, 6);
  const whole = new Uint8Array([1, 2, 3]);
  const notices = [keep(1, part), { do: "pong" } as const, keep(2, new Uint8Array()), keep(3, whole)];
  const { crossing, transfer } = encode(notices);
  const crossed = decode(structuredClone(crossing, { transfer }));
  const expected = ["long", "", "\u0001\u0002\u0003"].map((text) => new TextEncoder().encode(text));
  expect(crossed).toEqual([keep(1, expected[0]!), { do: "pong" }, keep(2, expected[1]!), keep(3, expected[2]!)]);
  expect(whole.byteLength).toBe(0);
  expect(part.byteLength).toBe(4); // The rest of the buffer belongs to other files.
});

test("deltas of an answer that are sent together are merged, with the length and time of each", () => {
  const delta = (run_id: string, text: string, ms: number, more = {}): FromWorker => ({
    do: "delta",
    run_id,
    delta: { anchor: 2, step_index: 0, part: 0, kind: "output", text, ms, ...more },
  });
  const said = ["Hello", " ", "you."].map((text, ms) => delta("run_1", text, ms));
  expect(coalesce([said[0]!, delta("run_2", "Else.", 7), ...said.slice(1)])).toEqual([
    delta("run_1", "Hello you.", 0, { marks: [5, 0, 1, 1, 4, 2] }),
    delta("run_2", "Else.", 7),
  ]);
  const apart = [said[0]!, delta("run_1", "b", 1, { part: 1 }), delta("run_1", "c", 1, { part: 1, kind: "reasoning" })];
  const others = [...apart, delta("run_1", "d", 1, { anchor: 5 }), { do: "pong" } as const, delta("run_1", "e", 1)];
  expect(coalesce([...others, { do: "pong" }, said[1]!])).toEqual([...others, { do: "pong" }, said[1]!]);
  expect(said[0]).toEqual(delta("run_1", "Hello", 0));
});
