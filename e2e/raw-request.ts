import { connect } from "node:tls";
import { usesSpare } from "./cluster/through-a-spare.ts";
import type { Json, Runnel } from "./harness.ts";
import { patience_ms } from "./until.ts";

const silence_ms = 1000;

/** Response to bytes that no client would send. */
export interface RawAnswer {
  /** Status of the first response; 0 if the connection was closed without one. */
  status: number;
  /** Status of every response on this connection, in order, without `100 Continue`. */
  statuses: number[];
  headers: Headers;
  /** Body of the first response. */
  text: string;
  /** True if the server closed the connection; false if it only became silent. */
  closed: boolean;
}

/** Returns the headers that every valid request needs. */
export const requestHeaders = (server: Runnel, key = server.keys.test): string =>
  `Host: ${new URL(server.url).host}\r\nAuthorization: Bearer ${key}\r\n`;

/**
 * Sends bytes as they are, one byte per character, and reads until the server closes the connection. Closes it after a
 * silence: a short one once each request without a last word has its response, a long one before, because a busy
 * machine may still be at work. `waits_ms` is the long one, for a request that never gets a response. Several requests
 * go in one piece, or each after the previous response if a node forwards them: there the response takes a moment, and
 * the runtime closes a connection on which the next request comes before.
 */
export function rawRequest(server: Runnel, request: string | string[], waits_ms = patience_ms): Promise<RawAnswer> {
  const { hostname, port } = new URL(server.url);
  const { promise, resolve } = Promise.withResolvers<RawAnswer>();
  let received = "";
  let closed = true;
  const left = [request].flat();
  const wanted = left.length;
  const next = () => {
    const now = usesSpare ? left.splice(0, 1) : left.splice(0);
    if (now.length > 0) socket.write(now.join(""), "latin1");
  };
  const socket = connect({ host: hostname, port: Number(port), ca: server.ca }, next);
  socket.setTimeout(waits_ms, () => {
    closed = false;
    socket.destroy();
  });
  socket.on("data", (data) => {
    received += data.toString("latin1");
    if (isComplete(received, wanted)) socket.setTimeout(silence_ms);
    next();
  });
  socket.on("error", () => {}); // Errors of a connection that the server cut: `close` follows.
  socket.on("close", () => resolve({ ...parse(received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")), closed }));
  return promise;
}

/** True if all responses have begun, and the last one does not announce the end. */
function isComplete(received: string, wanted: number): boolean {
  const heads = received.split(/HTTP\/1\.1 (?!100)\d{3} /).slice(1);
  return heads.length >= wanted && heads.at(-1)!.includes("\r\n\r\n") && !/\r\nconnection: close/i.test(heads.at(-1)!);
}

function parse(received: string): Omit<RawAnswer, "closed"> {
  const [head = "", ...rest] = received.split("\r\n\r\n");
  const [line = "", ...fields] = head.split("\r\n");
  const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s, 2) as [string, string]));
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0);
  return { status, statuses, headers, text: bodyOf(headers, rest.join("\r\n\r\n")) };
}

function bodyOf(headers: Headers, body: string): string {
  const length = headers.get("content-length");
  if (length !== null) return body.slice(0, Number(length));
  if (headers.get("transfer-encoding") !== "chunked") return body;
  return body.replaceAll(/[0-9a-f]+\r\n/gi, "").replaceAll("\r\n", "");
}

/** Returns the body of a refusal in runnel's envelope; throws for anything else. */
export function errorEnvelopeOf({ status, headers, text }: RawAnswer): Json {
  const body: Json = JSON.parse(text);
  const id = headers.get("x-request-id");
  if (!/^req_[0-9a-z]{26}$/.test(id ?? "") || body.request_id !== id || typeof body.error?.code !== "string")
    throw new Error(`Not an answer of runnel's: ${status} ${text}`);
  return body.error;
}
