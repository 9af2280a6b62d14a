import { connect } from "node:net";

interface RawAsk {
  method: string;
  /** Request target, sent unchanged: nothing is resolved or encoded. */
  target: string;
  headers?: Record<string, string>;
  /** Body, sent unchanged after all headers; an array is sent in pieces, with a pause before each. */
  body?: string | string[];
  pause_ms?: number;
}

/** Sends a request byte for byte over a connection of its own, and reads the answer to its end. */
export function rawAsk(port: number, { method, target, headers = {}, body = "", pause_ms = 0 }: RawAsk) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; head: string; text: string }>();
  const lines = Object.entries({ host: "localhost", connection: "close", ...headers }).map((pair) => pair.join(": "));
  const [first, rest] = typeof body === "string" ? [body, []] : ["", body];
  const socket = connect(port, "127.0.0.1", async () => {
    socket.write(`${[`${method} ${target} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${first}`, "latin1");
    for (const piece of rest) {
      await Bun.sleep(pause_ms);
      socket.write(piece, "latin1");
    }
  });
  let received = "";
  socket
    .on("data", (data) => {
      received += data.toString("latin1");
    })
    .on("error", reject)
    .on("close", () => {
      const end = received.indexOf("\r\n\r\n");
      const [head, text] = end === -1 ? [received, ""] : [received.slice(0, end), received.slice(end + 4)];
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head: head.toLowerCase(), text });
    });
  return promise;
}
