import { expect, jest, spyOn, test } from "bun:test";
import { DeltaBatch, decode, encode, MessageQueue, type Outlet } from "./message-channel.ts";
import type { Delta, FromWorker } from "./messages.ts";
import type { Piece } from "./output-guard.ts";

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

test("messages of one tick are sent together, in order", async () => {
  const batches: number[][] = [];
  const queue = new MessageQueue<number>((messages) => batches.push(messages));
  for (const message of [1, 2, 3]) queue.push(message);
  expect(batches).toEqual([]);
  await nextTick();
  queue.push(4);
  await nextTick();
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test("messages that may wait go with the next ones, behind those that were there before", async () => {
  using _ = spyOn(performance, "now").mockReturnValue(0); // Elapsed real time does not count: they have to wait.
  const batches: string[][] = [];
  const queue = new MessageQueue<string>((messages) => batches.push(messages));
  const wait = (message: string) => queue.pushLater(() => queue.push(message));
  wait("first");
  await nextTick();
  wait("a");
  wait("b");
  queue.push("now");
  wait("c");
  await nextTick();
  expect(batches).toEqual([["first"], ["now", "a", "b", "c"]]);
});

test("messages that may wait are sent after the pause even if no other follows", async () => {
  const { promise: passed, resolve } = Promise.withResolvers<string[]>();
  using _ = spyOn(performance, "now").mockReturnValue(0);
  const queue = new MessageQueue<string>((messages) => void (messages.includes("last") && resolve(messages)));
  queue.push("first");
  await nextTick();
  for (const message of ["a", "last"]) queue.pushLater(() => queue.push(message));
  expect(await passed).toEqual(["a", "last"]);
});

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
  const messages: FromWorker[] = [{ do: "pong" }, ask(1, { of: "sandbox" })];
  const { encoded, transfer } = encode(messages);
  expect(typeof encoded).toBe("string");
  expect(transfer).toEqual([]);
  expect(decode(encoded)).toEqual(messages);
});

test("bytes are transferred, not copied, and arrive with their message", () => {
  const part = new TextEncoder().encode("a long story").subarray(2, 6);
  const whole = new Uint8Array([1, 2, 3]);
  const messages = [keep(1, part), { do: "pong" } as const, keep(2, new Uint8Array()), keep(3, whole)];
  const { encoded, transfer } = encode(messages);
  const arrived = decode(structuredClone(encoded, { transfer }));
  const expected = ["long", "", "\u0001\u0002\u0003"].map((text) => new TextEncoder().encode(text));
  expect(arrived).toEqual([keep(1, expected[0]!), { do: "pong" }, keep(2, expected[1]!), keep(3, expected[2]!)]);
  expect(whole.byteLength).toBe(0);
  expect(part.byteLength).toBe(4); // The rest of the buffer belongs to other files.
});

const say = (text: string, part = 0): Piece => ({ part, kind: "output", text });

/** A batch over an outlet, with all that the readers and the journal get. */
function batchOver(outlet: Outlet, run_id = "run_1") {
  const journal: Delta[] = [];
  const begun = performance.now();
  const options = { outlet, run_id, anchor: 2, step_index: 0, begun, onDelta: (delta: Delta) => journal.push(delta) };
  return { journal, batch: new DeltaBatch(options) };
}

/** An outlet that sends everything at once. */
function directOutlet() {
  const sent: FromWorker[] = [];
  const outlet: Outlet = { push: (message) => sent.push(message), pushLater: (collect) => collect() };
  const texts = () => sent.flatMap((message) => (message.do === "delta" ? message.delta.text : []));
  return { sent, outlet, texts };
}

test("the first delta of an answer is sent at once, the others are merged, with the length and time of each", async () => {
  using _ = spyOn(performance, "now").mockReturnValue(0);
  using _timer = spyOn(globalThis, "setTimeout").mockReturnValue(setTimeout(() => {})); // The pause does not pass.
  const batches: FromWorker[][] = [];
  const queue = new MessageQueue<FromWorker>((messages) => batches.push(messages));
  const delta = (run_id: string, text: string, more: Partial<Delta> = {}): FromWorker => ({
    do: "delta",
    run_id,
    delta: { anchor: 2, step_index: 0, part: 0, kind: "output", text, ms: 0, ...more },
  });
  const [one, two] = [batchOver(queue, "run_1"), batchOver(queue, "run_2")];
  one.batch.push(say("Hello"));
  await nextTick();
  for (const text of [" ", "you", "."]) one.batch.push(say(text));
  await nextTick();
  expect(batches).toEqual([[delta("run_1", "Hello")]]);
  two.batch.push(say("Else."));
  await nextTick();
  const merged = delta("run_1", " you.", { marks: [1, 0, 3, 0, 1, 0] });
  expect(batches.slice(1)).toEqual([[delta("run_2", "Else."), merged]]);
  expect(one.journal.map(({ text }) => text)).toEqual(["Hello", " you."]);
});

test("deltas of another part or kind are not merged, and keep their order with other messages", () => {
  const { sent, outlet } = directOutlet();
  const waiting: Outlet = { push: outlet.push, pushLater() {} };
  const { batch } = batchOver(waiting);
  for (const piece of [say("a"), say("b"), say("c", 1), { ...say("d", 1), kind: "reasoning" as const }])
    batch.push(piece);
  expect(sent.map((message) => message.do === "delta" && message.delta.text)).toEqual(["a", "b", "c"]);
  batch.report(4);
  batch.flush();
  sent.push({ do: "pong" });
  expect(sent.slice(3)).toMatchObject([{ do: "generated", length: 4 }, { do: "delta" }, { do: "pong" }]);
});

test("each delta is sent at once without a pace, but those of very long answers are merged per interval", () => {
  jest.useFakeTimers();
  try {
    const { texts, outlet } = directOutlet();
    const { batch, journal } = batchOver(outlet);
    for (let index = 0; index < 4096; index++) batch.push(say("a"));
    expect(texts()).toHaveLength(4096);
    for (const text of ["b", "c", "d"]) batch.push(say(text));
    expect(texts()).toHaveLength(4096);
    jest.advanceTimersByTime(4);
    for (const text of ["e", "f"]) batch.push(say(text));
    batch.push(say("g", 1));
    batch.flush();
    batch.flush();
    expect(texts().slice(4096)).toEqual(["bcd", "ef", "g"]);
    expect(journal.map(({ text }) => text)).toEqual(texts());
  } finally {
    jest.useRealTimers();
  }
});

test("a million endless deltas become about ten thousand", () => {
  jest.useFakeTimers();
  try {
    const { texts, outlet } = directOutlet();
    const { batch } = batchOver(outlet);
    for (let index = 0; index < 1_000_000; index++) {
      batch.push(say("a"));
      if (index % 10 === 0) jest.advanceTimersByTime(1);
    }
    batch.flush();
    expect(texts().length).toBeLessThan(20_000);
    expect(texts().join("")).toBe("a".repeat(1_000_000));
  } finally {
    jest.useRealTimers();
  }
});
