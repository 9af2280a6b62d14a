import { expect, test } from "bun:test";
import { whileSignedIn } from "./while-signed-in.ts";

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
  const answer = whileSignedIn(new Response(source, events), isSignedIn, () => "https://a.example");
  return {
    answer,
    left: left.promise,
    say: (text: string) => controller.enqueue(encoder.encode(text)),
    end: () => controller.close(),
  };
}

test("a stream goes on while its reader is signed in, and after that ends with the reason", async () => {
  let isSignedIn = true;
  const { answer, left, say } = stage(() => isSignedIn);
  say("data: 1\n\n");
  const reader = answer.body!.pipeThrough(new TextDecoderStream() as never).getReader();
  expect((await reader.read()).value).toBe("data: 1\n\n");
  isSignedIn = false;
  expect((await reader.read()).value).toMatch(/^event: error\ndata: .*"missing_session".*\n\n$/);
  expect((await reader.read()).done).toBe(true);
  await left; // The other cell says nothing more to nobody.
});

test("what was cut in the middle of an event is not gone on with", async () => {
  const { answer, say } = stage(() => false);
  say("data: 1");
  expect(await answer.text()).toBe("data: 1");
});

test("a stream that is over is over, and what is no stream is left as it is", async () => {
  const { answer, say, end } = stage(() => true);
  say("data: 1\n\n");
  end();
  expect(await answer.text()).toBe("data: 1\n\n");
  const plain = Response.json({ a: 1 });
  expect(
    whileSignedIn(
      plain,
      () => false,
      () => "https://a.example",
    ),
  ).toBe(plain);
});
