import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createEgress } from "../../lib/egress.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import type { Operation } from "./open-client.ts";
import { createSessionStream } from "./session-stream.ts";

removeProxyEnvironment();

/** Opens the stream of a session with one open call, again and again, and returns the pauses before each time. */
async function listenAgain(times: number, answer: (time: number) => Response) {
  let requests = 0;
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => answer(++requests) });
  const closing = new AbortController();
  const pauses: number[] = [];
  const done = Promise.withResolvers<void>();
  const { listen } = createSessionStream({
    egress: createEgress({ allow: [], loopback: true }),
    server: { url: `http://127.0.0.1:${server.port}/`, headers: {} },
    session: {
      id: "s",
      version: "2025-11-25",
      capabilities: {},
      operations: new Set<Operation>([{ timeout_ms: 20_000, signal: new AbortController().signal }]),
      nextId: () => 0,
    },
    closing: closing.signal,
    farewell: () => {},
    later(work, ms) {
      if (pauses.push(ms) < times) work();
      else done.resolve();
    },
  });
  await listen();
  await done.promise;
  const listeners = getEventListeners(closing.signal, "abort").length;
  closing.abort();
  await server.stop(true);
  return { pauses, listeners };
}

const stream = (body: string) => new Response(body, { headers: { "content-type": "text/event-stream" } });
const message = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`;

test.each<[string, () => Response]>([
  ["ends at once", () => stream("")],
  ["is refused", () => new Response(null, { status: 409 })],
  ["is something else", () => Response.json({})],
])("a stream that %s each time is requested after growing pauses, and leaves nothing behind", async (_, answer) => {
  const { pauses, listeners } = await listenAgain(8, answer);
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(listeners).toBe(0);
});

test("a message begins the pauses again", async () => {
  const { pauses } = await listenAgain(5, (time) => stream(time === 3 ? message : ""));
  expect(pauses).toEqual([500, 1000, 500, 1000, 2000]);
});
