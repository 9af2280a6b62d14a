import { expect, jest, test } from "bun:test";
import { bindToSession } from "./session-bound-stream.ts";

const look_ms = 5;
const encoder = new TextEncoder();
const events = { headers: { "content-type": "text/event-stream; charset=utf-8" } };

function stage(isSignedIn: () => boolean) {
  const left = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const source = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel: () => left.resolve(),
  });
  const answer = bindToSession(new Response(source, events), isSignedIn, () => "https://a.example", look_ms);
  return {
    answer,
    left: left.promise,
    say: (text: string) => controller.enqueue(encoder.encode(text)),
    end: () => controller.close(),
    fail: () => controller.error(new Error("It died.")),
  };
}

test("a stream continues while its reader is signed in, and then ends with the reason", async () => {
  let isSignedIn = true;
  const { answer, left, say } = stage(() => isSignedIn);
  say("data: 1\n\n");
  const reader = answer.body!.pipeThrough(new TextDecoderStream() as never).getReader();
  expect((await reader.read()).value).toBe("data: 1\n\n");
  isSignedIn = false;
  expect((await reader.read()).value).toMatch(/^event: error\ndata: .*"missing_session".*\n\n$/);
  expect((await reader.read()).done).toBe(true);
  await left; // The stream of the other cell is cancelled.
});

test("a stream that ends in the middle of an event gets nothing appended", async () => {
  const { answer, say } = stage(() => false);
  say("data: 1");
  expect(await answer.text()).toBe("data: 1");
});

test("a stream that breaks also breaks for its reader, and the session is no longer checked", async () => {
  jest.useFakeTimers();
  try {
    let asked = 0;
    const { answer, fail } = stage(() => {
      asked++;
      return true;
    });
    const text = answer.text().catch(String);
    jest.advanceTimersByTime(2 * look_ms);
    expect(asked).toBe(2);
    fail();
    expect(await text).toContain("It died.");
    jest.advanceTimersByTime(10 * look_ms);
    expect(asked).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});

test("a stream that ended stays ended, and a response that is not a stream is returned unchanged", async () => {
  const { answer, say, end } = stage(() => true);
  say("data: 1\n\n");
  end();
  expect(await answer.text()).toBe("data: 1\n\n");
  const plain = Response.json({ a: 1 });
  expect(
    bindToSession(
      plain,
      () => false,
      () => "https://a.example",
    ),
  ).toBe(plain);
});
