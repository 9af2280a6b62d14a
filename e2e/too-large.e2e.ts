import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Runnel, startRunnel } from "./harness.ts";
import { requestHeaders } from "./raw-request.ts";

// Many clients, Python's among them, read the response only after sending the whole body, so the connection must stay
// open.
const piece = Buffer.alloc(64 * 1024, "x");
const pieces = 320;

/** Sends a body of 20 MB to its end, and only then reads: returns the response, or the error of the connection. */
async function sendThenRead(server: Runnel, path: string, headers: string, chunked: boolean): Promise<string> {
  const { hostname, port, protocol } = new URL(server.url);
  const address = { host: hostname, port: Number(port) };
  const isTls = protocol === "https:";
  const socket: Socket = isTls ? connectTls({ ...address, ca: server.ca }) : connectPlain(address);
  let received = "";
  let broken = "";
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", (error) => (broken = `broken: ${error.message}`));
  await once(socket, isTls ? "secureConnect" : "connect");
  socket.pause();
  socket.on("data", (data) => (received += data.toString("latin1")));
  socket.pause();
  const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${piece.length * pieces}`;
  socket.write(`POST ${path} HTTP/1.1\r\n${requestHeaders(server)}${headers}${length}\r\n\r\n`);
  for (let sent = 0; sent < pieces && !socket.destroyed; sent++) {
    if (chunked) socket.write(`${piece.length.toString(16)}\r\n`);
    const isTaken = socket.write(piece);
    if (chunked) socket.write("\r\n");
    if (!isTaken) await Promise.race([once(socket, "drain"), closed]);
  }
  if (chunked) socket.write("0\r\n\r\n");
  socket.resume();
  await closed;
  return broken || received;
}

describe.each([
  ["TLS", []],
  ["plain HTTP", ["--insecure-http"]],
])("over %s a body that exceeds the limit", (_, flags) => {
  let server: Runnel;
  beforeAll(async () => {
    server = await startRunnel({ flags });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const json = "Content-Type: application/json\r\n";
  const form = "Content-Type: multipart/form-data; boundary=b\r\n";
  test.each([
    ["declared", json, "/v1/agents", false, 413, "payload_too_large"],
    ["in chunks", json, "/v1/agents", true, 413, "payload_too_large"],
    ["declared, of a form that is none", form, "/v1/files", false, 400, "validation_failed"],
    ["in chunks, of a form that is none", form, "/v1/files", true, 400, "validation_failed"],
  ] as const)(
    "%s is read to its end, so that the response arrives, 20 times of 20",
    async (_, headers, path, chunked, status, code) => {
      for (let time = 1; time <= 20; time++) {
        const close = status === 413 ? "" : "Connection: close\r\n";
        const answer = await sendThenRead(server, path, headers + close, chunked);
        expect({ time, line: answer.split("\r\n")[0], code: /"code":"(\w+)"/.exec(answer)?.[1] }).toMatchObject({
          time,
          code,
          line: expect.stringContaining(`HTTP/1.1 ${status} `),
        });
        expect(answer).toMatch(/x-request-id: req_/i);
      }
    },
  );
});
