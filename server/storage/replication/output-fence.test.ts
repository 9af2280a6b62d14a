import { expect, test } from "bun:test";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import { createOutputFence } from "./output-fence.ts";

/** Creates a promise that the test settles. */
function unsettled() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stalls = createEventEmitter();
  let isStalled = false;
  const ways = createOutputFence({ settled: () => promise, isStalled: () => isStalled, onStalled: stalls.listen });
  return {
    ways,
    settle: resolve,
    stall() {
      isStalled = true;
      stalls.tell();
    },
  };
}

const request = new Request("http://localhost/v1/runs");
const away = () => new Response("away", { status: 503 });

/** True if the promise has settled after all other ready work was done. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  return done;
}

test("a response waits until Postgres has the commits that it reveals, and is unchanged", async () => {
  const { ways, settle } = unsettled();
  const headers = new Headers({ "x-request-id": "req_1" });
  headers.append("set-cookie", "a=1");
  headers.append("set-cookie", "b=2");
  const answer = ways.answering(() => Response.json({ n: 1 }, { status: 201, headers }), away)(request);
  expect(await isSettled(answer as Promise<Response>)).toBe(false);
  settle();
  const response = await answer;
  expect([response.status, await response.json()]).toEqual([201, { n: 1 }]);
  expect(response.headers.get("x-request-id")).toBe("req_1");
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
});

test("each chunk of a stream waits separately", async () => {
  let [reading, settled] = [Promise.withResolvers<void>(), Promise.resolve()];
  const ways = createOutputFence({ settled: () => settled, isStalled: () => false, onStalled() {} });
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await reading.promise;
      controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
    },
  });
  const handle = ways.answering(() => new Response(source, { headers: { "content-type": "text/event-stream" } }), away);
  const reader = (await handle(request)).body!.getReader();
  const later = Promise.withResolvers<void>();
  settled = later.promise;
  const piece = reader.read();
  reading.resolve();
  expect(await isSettled(piece)).toBe(false);
  later.resolve();
  expect(new TextDecoder().decode((await piece).value)).toBe("data: 1\n\n");
  reading = Promise.withResolvers();
  await reader.cancel();
});

test("a JSON download is read no faster than its client reads it", async () => {
  const ways = createOutputFence({ settled: async () => {}, isStalled: () => false, onStalled() {} });
  let pieces = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pieces > 100) controller.close();
      else controller.enqueue(new Uint8Array(1000));
    },
  });
  const headers = { "content-type": "application/json", "content-disposition": 'attachment; filename="a.json"' };
  const answer = await ways.answering(() => new Response(source, { headers }), away)(request);
  expect(await isSettled(new Promise(() => {}))).toBe(false);
  expect(pieces).toBeLessThan(10);
  await answer.body!.cancel();
});

test("requests that wait when Postgres becomes unavailable fail, and so do later ones", async () => {
  const { ways, stall } = unsettled();
  let asked = 0;
  const handle = ways.answering(() => {
    asked++;
    return new Response("there");
  }, away);
  const first = handle(request);
  stall();
  expect((await first).status).toBe(503);
  expect((await handle(request)).status).toBe(503);
  expect(asked).toBe(1);
});

test("an outgoing request waits too", async () => {
  const { ways, settle } = unsettled();
  let sent = 0;
  const fetch = ways.requesting(
    Object.assign(
      async () => {
        sent++;
        return new Response();
      },
      { preconnect() {} },
    ),
  );
  const answer = fetch("http://localhost/");
  expect(await isSettled(answer)).toBe(false);
  expect(sent).toBe(0);
  settle();
  await answer;
  expect(sent).toBe(1);
});

test("commands are sent in order, also if later ones could be sent first", async () => {
  const waits = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const ways = createOutputFence({ settled: () => waits[count++]!.promise, isStalled: () => false, onStalled() {} });
  const given: number[] = [];
  const both = Promise.withResolvers<void>();
  const order = ways.ordering<number>((n) => {
    given.push(n);
    if (given.length === 2) both.resolve();
  });
  order(1);
  order(2);
  waits[1]!.resolve();
  expect(await isSettled(both.promise)).toBe(false);
  expect(given).toEqual([]);
  waits[0]!.resolve();
  await both.promise;
  expect(given).toEqual([1, 2]);
});
