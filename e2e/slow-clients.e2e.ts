import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:tls";
import { createAgent } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { meanwhile } from "./meanwhile.ts";
import { figuresAvailable, openFiles, residentBytes, serverPid } from "./process-figures.ts";
import { requestHeaders } from "./raw-request.ts";
import { waitUntil, withTimeout } from "./until.ts";

let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
});
afterAll(() => server[Symbol.asyncDispose]());

const every_ms = 4000;

/**
 * Opens a connection, sends the beginning of a request, and then one byte at a time. `closed` resolves when the server
 * closes it.
 */
function openSlow(beginning: string): { opened: Promise<void>; closed: Promise<void>; leave(): void } {
  const { hostname, port } = new URL(server.url);
  const [opened, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let timer: Timer | undefined;
  const socket = connect({ host: hostname, port: Number(port), ca: server.ca }, () => {
    socket.write(beginning, "latin1");
    timer = setInterval(() => socket.write("a"), every_ms);
    opened.resolve();
  });
  socket.on("error", () => {}); // Errors of a connection that the server cut: `close` follows.
  socket.on("close", () => {
    clearInterval(timer);
    opened.resolve();
    closed.resolve();
  });
  socket.resume();
  return { opened: opened.promise, closed: closed.promise, leave: () => socket.destroy() };
}

test("500 connections that send a byte now and then are closed in time, and affect no other client", async () => {
  const agent_id = await createAgent(server, "test/echo");
  const headers = `GET /v1/me HTTP/1.1\r\n${requestHeaders(server)}X-Slow: `;
  const body = `POST /v1/agents HTTP/1.1\r\n${requestHeaders(server)}Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{`;
  const slow = Array.from({ length: 500 }, (_, index) => openSlow([headers, body, ""][index % 3]!));
  try {
    await Promise.all(slow.map(({ opened }) => opened));
    const pid = serverPid(server.dataDir);
    const held = figuresAvailable ? openFiles(pid) : 0;
    let turn = 0;
    const allClosed = withTimeout(Promise.all(slow.map(({ closed }) => closed)), "the server closes them", 60_000);
    const { responses } = await meanwhile(allClosed, async () => {
      const { status } =
        turn++ % 5 === 0
          ? await server.post("/v1/runs?wait=60", { agent_id, input: "Hello" })
          : await server.get("/v1/agents");
      expect(status).toBeLessThan(300);
      await Bun.sleep(100);
    });
    expect(responses, "responses while they were open").toBeGreaterThan(100);
    if (figuresAvailable) {
      expect(held).toBeGreaterThan(500); // They were open at the same time.
      await waitUntil(() => openFiles(pid) < held - 450);
      expect(residentBytes(pid) / 1024 ** 2).toBeLessThan(300);
    }
    expect(server.log()).not.toContain("met a bug");
  } finally {
    for (const { leave } of slow) leave();
  }
}, 90_000);
