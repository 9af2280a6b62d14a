import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** A client's action, the hostile response, and the expected result. */
interface HostileCase {
  name: string;
  /** A request, a list of all pages, or a run with its stream. */
  does: "request" | "list" | "stream";
  answer: (response: ServerResponse, otherHost: string) => unknown;
  /** Class of the error, or the events of the stream. */
  becomes: string | string[];
  /** Maximum number of requests. */
  requests: number;
  /** True if much data is sent, which takes its time. */
  isLong?: boolean;
}

const mega = 2 ** 20;
const json =
  (body: string | Uint8Array, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

/** Sends pieces until the client disconnects. */
async function endless(
  response: ServerResponse,
  type: string,
  piece: string | Buffer,
  status = 200,
  pauseMs = 0,
): Promise<void> {
  response.writeHead(status, { "content-type": type });
  const closed = new Promise((resolve) => response.once("close", resolve));
  while (!response.destroyed) {
    const drained = response.write(piece) || new Promise((resolve) => response.once("drain", resolve));
    await Promise.race([drained, closed]);
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
}

const events =
  (text: string | Uint8Array, isCut = false) =>
  (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => (isCut ? response.destroy() : response.end()));
  };

const event = (name: string, data: object, id?: string): string =>
  `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ run_id: "run_1", ...data })}\n\n`;
const created = event("run.created", { seq: 1 }, "1");
const began = event("step.started", { seq: 2, type: "model_call", step_index: 0 }, "2");
const token = event("token", { seq: 2, kind: "output", delta: "Hi", offset: 2, step_index: 0 }, "2.2");
const completed = event("run.completed", { seq: 3, output: "Hi" }, "3");
const withoutIds = (text: string): string => text.replaceAll(/^id: .*\n/gm, "");

const request = (name: string, answer: HostileCase["answer"], becomes: string, more: Partial<HostileCase> = {}) =>
  ({ name, does: "request", answer, becomes, requests: 1, ...more }) as HostileCase;
const stream = (
  name: string,
  answer: HostileCase["answer"],
  becomes: string | string[],
  requests = 1,
  isLong = false,
) => ({ name, does: "stream", answer, becomes, requests, isLong }) as HostileCase;

const wishes = ["1e999", "-1", "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "0"];

export const hostileCases: HostileCase[] = [
  request("endless", (to) => endless(to, "application/json", Buffer.alloc(mega, "[")), "UnexpectedResponseError", {
    isLong: true,
  }),
  request("announced", (to) => json(" ", 200, { "content-length": "10000000000" })(to), "UnexpectedResponseError"),
  request(
    "bomb",
    json(gzipSync(Buffer.alloc(200 * mega), { level: 1 }), 200, { "content-encoding": "gzip" }),
    "UnexpectedResponseError",
    { isLong: true },
  ),
  request("dripping", (to) => endless(to, "application/json", " ", 200, 50), "APITimeoutError", { requests: 2 }),
  request(
    "html",
    (to) => to.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome"),
    "UnexpectedResponseError",
  ),
  request("empty", json(""), "UnexpectedResponseError"),
  request("null", json("null"), "UnexpectedResponseError"),
  request("deep", json("[".repeat(200_000) + "]".repeat(200_000)), "UnexpectedResponseError"),
  request("not-utf8", json(Buffer.from('{"object":"m\xff"}', "latin1")), "UnexpectedResponseError"),
  request("gone", (to) => to.destroy(), "APIConnectionError", { requests: 2 }),
  request(
    "half",
    (to) => to.writeHead(200, { "content-length": "100" }).write("{", () => to.destroy()),
    "APIConnectionError",
    {
      requests: 2,
    },
  ),
  ...[301, 302, 303, 307, 308].map((status) =>
    request(
      `redirect-${status}`,
      (to, host) => to.writeHead(status, { location: `${host}/v1/me` }).end(),
      "UnexpectedResponseError",
    ),
  ),
  request("storm", json("Slow down.", 429), "RateLimitError", { requests: 2 }),
  ...wishes.map((wish, index) =>
    request(`storm-${index}`, json("{}", 429, { "retry-after": wish }), "RateLimitError", { requests: 2 }),
  ),
  request("odd-error", json('{"error": null, "request_id": 5}', 500), "InternalServerError", { requests: 2 }),
  request("odder-error", json('{"error": {"message": 5, "code": [], "errors": "x"}}', 404), "NotFoundError"),
  request(
    "endless-error",
    (to) => endless(to, "application/json", Buffer.alloc(mega, "["), 403),
    "PermissionDeniedError",
    {
      isLong: true,
    },
  ),
  {
    name: "same-page",
    does: "list",
    becomes: "UnexpectedResponseError",
    requests: 2,
    answer: json('{"object":"list","data":[{"id":"agt_1"}],"has_more":true,"first_id":"agt_1","last_id":"agt_1"}'),
  },
  { name: "no-page", does: "list", answer: json('{"object":"list"}'), becomes: "UnexpectedResponseError", requests: 1 },
  stream(
    "stream-of-html",
    (to) => to.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    "UnexpectedResponseError",
  ),
  stream("stream-of-json", json('{"id":"run_1"}'), "UnexpectedResponseError"),
  stream(
    "stream-redirected",
    (to, host) => to.writeHead(307, { location: `${host}/v1/runs` }).end(),
    "UnexpectedResponseError",
  ),
  stream(
    "endless-line",
    (to) => endless(to, "text/event-stream", Buffer.alloc(mega, "a")),
    "UnexpectedResponseError",
    1,
    true,
  ),
  stream(
    "endless-event",
    (to) => endless(to, "text/event-stream", `data: ${"a".repeat(mega)}\n`),
    "UnexpectedResponseError",
    1,
    true,
  ),
  stream("broken-data", events("event: run.created\ndata: {broken\n\n"), "UnexpectedResponseError"),
  stream("null-data", events("event: run.created\ndata: null\n\n"), "UnexpectedResponseError"),
  stream(
    "odd-data",
    events('event: token\ndata: {"kind":"output","delta":[],"offset":"x"}\n\n'),
    "UnexpectedResponseError",
  ),
  stream("stream-not-utf8", events(Buffer.from("event: run.cr\xff\n\n", "latin1")), "UnexpectedResponseError"),
  stream("cut-frames", events(created.slice(0, -1), true), "APIConnectionError", 8),
  stream("empty-stream", events(""), "APIConnectionError", 8),
  stream("only-comments", events(": still here\n\n"), "APIConnectionError", 8),
  stream("same-event", events(created), "APIConnectionError", 8),
  stream("stream-storm", json("{}", 503, { "retry-after": "0" }), "InternalServerError", 8),
  stream(
    "silent",
    (to) => to.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
    "APIConnectionError",
    8,
  ),
  stream("twice", events(created + created + began + token + token + began + completed + completed), [
    "run.created",
    "step.started",
    "token",
    "run.completed",
  ]),
  stream("without-ids", events(withoutIds(created + began + token + completed)), [
    "run.created",
    "step.started",
    "token",
    "run.completed",
  ]),
  stream("after-the-end", events(created + completed + began + token), ["run.created", "run.completed"]),
];

export type HostileServer = Awaited<ReturnType<typeof startHostileServer>>;

/** Responds to each client by the first part of its path: `/<name of the case>/v1/me`. */
export async function startHostileServer() {
  const asked = new Map<string, number>();
  const sockets = new Map<string, Set<IncomingMessage["socket"]>>();
  let strangers = 0;
  const other = createServer((_, response) => {
    strangers++;
    response.end("{}");
  });
  const server = createServer((incoming, response) => {
    const name = incoming.url!.split("/")[1]!;
    asked.set(name, (asked.get(name) ?? 0) + 1);
    sockets.set(name, (sockets.get(name) ?? new Set()).add(incoming.socket));
    response.on("error", () => {});
    response.setHeader("connection", "close"); // Bun itself retries over each kept connection.
    incoming.resume().on("end", () => hostileCases.find((one) => one.name === name)?.answer(response, urlOf(other)));
  });
  for (const one of [server, other]) await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
  const urlOf = (one: typeof server) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
  return {
    url: urlOf(server),
    /** Number of requests, by case. */
    asked,
    /** Returns the number of bytes sent in a case. */
    sent: (name: string): number =>
      [...(sockets.get(name) ?? [])].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    /** Number of requests that followed a redirect to elsewhere. */
    strangers: () => strangers,
    [Symbol.dispose]() {
      for (const one of [server, other]) {
        one.closeAllConnections();
        one.close();
      }
    },
  };
}
