import { afterEach, expect, test } from "bun:test";
import { corpus } from "../../../server/domain/__fixtures__/corpus.ts";
import { frames } from "../../../server/domain/api-types/events.ts";
import { frameOf } from "../../../server/domain/api-types/frames.ts";
import { type Frame, followEvents, resumeUrl, retryDelay, type StreamState, toFrame } from "./events.ts";

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
});

function follow() {
  browser.EventSource = NamedEvents;
  browser.document = Object.assign(new EventTarget(), { hidden: false });
  const heard: Frame[] = [];
  const states: StreamState[] = [];
  const stop = followEvents({
    url: "/runs/run_1/events",
    onFrame: (frame) => heard.push(frame),
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
