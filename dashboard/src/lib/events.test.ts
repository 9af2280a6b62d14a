import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { corpus } from "../../../server/domain/__fixtures__/corpus.ts";
import { frames } from "../../../server/domain/api-types/events.ts";
import { frameOf } from "../../../server/domain/api-types/frames.ts";
import { batchPerFrame, type Frame, followEvents, resumeUrl, retryDelay, type StreamState, toFrame } from "./events.ts";

/** Fake of the browser's EventSource: a named event without a listener is dropped. */
class NamedEvents extends EventTarget {
  static readonly CLOSED = 2;
  static last: NamedEvents;
  isClosed = false;
  constructor(readonly url: string) {
    super();
    NamedEvents.last = this;
  }
  close() {
    this.isClosed = true;
  }
  send(event: string, data: object) {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data), lastEventId: "1" }));
  }
}

const browser = globalThis as Record<string, unknown>;
afterEach(() => {
  delete browser.EventSource;
  delete browser.document;
  delete browser.requestAnimationFrame;
});

function follow() {
  browser.EventSource = NamedEvents;
  browser.document = Object.assign(new EventTarget(), { hidden: false });
  browser.requestAnimationFrame = (paint: () => void) => void paint();
  const heard: Frame[] = [];
  const states: StreamState[] = [];
  const stop = followEvents({
    url: "/runs/run_1/events",
    onFrames: (frames) => heard.push(...frames),
    onState: (state) => states.push(state),
  });
  return { heard, states, stop };
}

test("a run's stream listens for every event type", () => {
  const sent = corpus.flatMap(({ entries }) => entries.map((entry) => frameOf("run_1", entry)));
  for (const name of Object.keys(frames)) {
    const { heard, states, stop } = follow();
    const { event, data } = sent.find(({ event }) => event === name) ?? { event: name, data: { seq: 1 } };
    NamedEvents.last.send(event, data);
    expect(heard.map(({ event, data }) => ({ event, data }))).toEqual([{ event, data } as never]);
    expect({ name, isOver: states.includes("ended") }).toEqual({
      name,
      isOver: /^run\.(completed|failed)$/.test(name),
    });
    stop();
    expect(NamedEvents.last.isClosed).toBe(true);
  }
});

test("a stream that was refused resumes after its last event id", () => {
  expect(resumeUrl("/runs/run_1/events", "")).toBe("/runs/run_1/events");
  expect(resumeUrl("/runs/run_1/events", "12.340")).toBe("/runs/run_1/events?starting_after=12.340");
});

test("refused streams are retried with growing delays of at most 30 seconds", () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelay)).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("data that is no JSON object is ignored", () => {
  expect(toFrame("token", { data: "{broken", lastEventId: "1" })).toBeNull();
  expect(toFrame("token", { data: "null", lastEventId: "1" })).toBeNull();
  expect(toFrame("token", { data: '{"seq":2}', lastEventId: "2.5" })).toMatchObject({
    id: "2.5",
    event: "token",
    data: { seq: 2 },
  });
});

describe("frames per paint", () => {
  // A page whose frames the test triggers.
  let frames: Map<number, () => void>;
  let page: EventTarget & { hidden: boolean };
  const before = { ...globalThis };
  beforeEach(() => {
    frames = new Map();
    page = Object.assign(new EventTarget(), { hidden: false });
    Object.assign(globalThis, {
      document: page,
      requestAnimationFrame: (paint: () => void) => {
        frames.set(frames.size + 1, paint);
        return frames.size;
      },
      cancelAnimationFrame: (id: number) => frames.delete(id),
    });
  });
  afterEach(() => {
    const { document, requestAnimationFrame, cancelAnimationFrame } = before;
    Object.assign(globalThis, { document, requestAnimationFrame, cancelAnimationFrame });
  });
  const hide = () => {
    page.hidden = true;
    page.dispatchEvent(new Event("visibilitychange"));
  };

  test("items between two frames are delivered together in the next one", () => {
    const taken: string[][] = [];
    const { push } = batchPerFrame<string>((items) => taken.push(items));
    push("a");
    push("b");
    expect([taken, frames.size]).toEqual([[], 1]);
    frames.get(1)!();
    expect(taken).toEqual([["a", "b"]]);
  });

  test("a page hidden before its frame delivers its items and continues", async () => {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    const taken: string[][] = [];
    const { push } = batchPerFrame<string>((items) => {
      taken.push(items);
      if (items.includes("b")) resolve(items);
    });
    push("a");
    hide();
    expect([taken, frames.size]).toEqual([[["a"]], 0]);
    push("b");
    expect(await promise).toEqual(["b"]);
  });

  test("nothing is delivered after stopping", () => {
    const taken: string[][] = [];
    const { push, stop } = batchPerFrame<string>((items) => taken.push(items));
    push("a");
    stop();
    hide();
    expect([taken, frames.size]).toEqual([[], 0]);
  });
});
