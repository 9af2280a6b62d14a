import { expect, test } from "bun:test";
import { connect } from "node:net";
import { readJsonBody } from "../http/json-body.ts";
import { silentLog } from "../lib/log.ts";
import { freePort } from "../testing/free-port.ts";
import { createListener } from "./listener.ts";

/** Settles when the server ends a connection that sent half of a request. */
function cutOff(port: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", () =>
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"),
  );
  socket
    .resume()
    .on("error", () => {})
    .on("close", () => resolve());
  return promise;
}

test.each(["203.0.113.7", "nowhere.invalid", "no name"])(
  "an address that is not this machine's is said to be none: %s",
  (host) => {
    const nowhere = { host, certificate: null, log: silentLog, handle: () => new Response() };
    for (const port of [0, freePort()])
      expect(() => createListener({ ...nowhere, port })).toThrow(`--host ${host} is no address of this machine`);
  },
);

// Bun looks at its timers every four seconds: less than twice that would be no time to wait in.
const idle_s = 8;

test("whoever sent all of a request may wait for long, and who stays silent in the middle of one is cut off", async () => {
  const listener = createListener({
    ...{ host: "127.0.0.1", port: 0, certificate: null, log: silentLog, idle_s },
    async handle(request) {
      const body = await readJsonBody(request);
      // Twice as long as a connection may be idle.
      for (let times = 0; times < 2; times++) await cutOff(listener.port);
      return Response.json(body);
    },
  });
  const ask = async (connection: string, method: string) => {
    const body = method === "POST" ? '{"a":1}' : undefined;
    const headers = { connection, "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${listener.port}`, { method, body, headers });
    return [response.status, await response.json()];
  };
  try {
    expect(await Promise.all([ask("keep-alive", "POST"), ask("close", "POST"), ask("keep-alive", "GET")])).toEqual([
      [200, { a: 1 }],
      [200, { a: 1 }],
      [200, {}],
    ]);
  } finally {
    await listener.cut();
  }
}, 60_000);
