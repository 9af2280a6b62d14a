import { expect, test } from "bun:test";
import { createSignal } from "../lib/signal.ts";
import { createWaysOut } from "./ways-out.ts";

/** Something that is unsettled until the test says so. */
function unsettled() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stalls = createSignal();
  let isStalled = false;
  const ways = createWaysOut({ settled: () => promise, isStalled: () => isStalled, onStalled: stalls.listen });
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

/** Whether it has settled, after everything had its turn that could have settled it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  return done;
}

test("an answer waits until the engine has what it may tell of, and stays as it was", async () => {
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

test("each piece of a stream waits on its own", async () => {
  let [reading, settled] = [Promise.withResolvers<void>(), Promise.resolve()];
  const ways = createWaysOut({ settled: () => settled, isStalled: () => false, onStalled() {} });
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

test("a download of JSON is read no faster than its reader takes it", async () => {
  const ways = createWaysOut({ settled: async () => {}, isStalled: () => false, onStalled() {} });
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

test("who waits when the engine goes away is told so, and so is who comes then", async () => {
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

test("a request of the process leaves no earlier", async () => {
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

test("orders are given in their order, also when the later ones may leave first", async () => {
  const waits = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const ways = createWaysOut({ settled: () => waits[count++]!.promise, isStalled: () => false, onStalled() {} });
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
