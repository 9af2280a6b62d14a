import { connect, type TLSSocket } from "node:tls";
import { type EventStream, type Frame, openStream } from "./event-stream.ts";
import type { Runnel } from "./harness.ts";

/** A reader with its own connection that reads only on demand: fetch reads by itself, and shares connections. */
interface RawReader {
  /** Stops reading from the system until `resume`. */
  pause(): void;
  resume(): void;
  /** Returns the number of bytes read so far. */
  taken(): number;
  /** Resolves when either side closes the connection. */
  closed: Promise<void>;
  /** Cuts the connection. */
  leave(): void;
}

/** Connects and requests a path as a stream, without reading a byte of the response. */
export function openSilent(server: Runnel, path: string): Promise<RawReader> {
  return open(server, path, null).then(({ reader }) => reader);
}

/** Like `openSilent`, but reads the first bytes of the response, and nothing more until `resume`. */
export async function openDead(server: Runnel, path: string): Promise<RawReader> {
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
  let isBegun = false;
  const { reader } = await open(server, path, {
    take(text) {
      if (isBegun) return;
      isBegun = true;
      reader.pause();
      if (text.startsWith("HTTP/1.1 200 ")) resolve();
      else reject(new Error(`It has no place: ${text}`));
    },
    end: () => reject(new Error("The connection was closed before an answer came.")),
  });
  await begun;
  return reader;
}

/** Connects, requests a path as a stream and reads it. Resolves when the response's head is there. */
export async function openReader(
  server: Runnel,
  path: string,
  onFrame?: (frame: Frame) => void,
): Promise<EventStream & { raw: RawReader }> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { reader } = await open(server, path, createResponse(resolve, reject));
  const stream = await openStream((signal) => {
    signal.addEventListener("abort", reader.leave);
    return promise;
  }, onFrame);
  return Object.assign(stream, { raw: reader });
}

interface Sink {
  take(text: string): void;
  end(): void;
}

function open(server: Runnel, path: string, sink: Sink | null): Promise<{ reader: RawReader; socket: TLSSocket }> {
  const { port, hostname } = new URL(server.url);
  const { promise, resolve, reject } = Promise.withResolvers<{ reader: RawReader; socket: TLSSocket }>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  let taken = 0;
  const socket = connect({ host: hostname, port: Number(port), ca: server.ca, servername: "localhost" }, () => {
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.keys.test}\r\n` +
        "Accept: text/event-stream\r\n\r\n",
    );
    const [pause, resume] = [() => void socket.pause(), () => void socket.resume()];
    resolve({ reader: { pause, resume, taken: () => taken, closed, leave: () => socket.destroy() }, socket });
  });
  if (sink)
    socket.on("data", (bytes: Buffer) => {
      taken += bytes.length;
      sink.take(bytes.toString("latin1"));
    });
  else socket.pause();
  socket.on("error", reject);
  socket.on("close", () => {
    sink?.end();
    close();
  });
  return promise;
}

/** Parses the received bytes (HTTP/1.1, chunked, ASCII) into a response whose body ends as the server ends it. */
function createResponse(resolve: (response: Response) => void, reject: (error: Error) => void): Sink {
  let text = "";
  let head = false;
  let open = true;
  let body: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      body = controller;
    },
  });
  const encoder = new TextEncoder();

  function readHead(): void {
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const [status = "", ...lines] = text.slice(0, end).split("\r\n");
    const headers = lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]);
    head = true;
    text = text.slice(end + 4);
    if (!/^transfer-encoding: chunked$/im.test(lines.join("\n"))) close(); // A refusal: the head is enough.
    resolve(new Response(stream, { status: Number(status.split(" ")[1]), headers }));
  }

  function close(): void {
    open = false;
    body.close();
  }

  function readChunks(): void {
    for (;;) {
      const line = text.indexOf("\r\n");
      const size = Number.parseInt(text.slice(0, line), 16);
      if (line < 0 || text.length < line + 2 + size + 2) return;
      if (size === 0) {
        close();
        return;
      }
      body.enqueue(encoder.encode(text.slice(line + 2, line + 2 + size)));
      text = text.slice(line + 2 + size + 2);
    }
  }

  return {
    take(more) {
      text += more;
      if (!head) readHead();
      if (head && open) readChunks();
    },
    end() {
      reject(new Error("The connection was closed before an answer came."));
      if (open) body.error(new Error("cut"));
      open = false;
    },
  };
}
