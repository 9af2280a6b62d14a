import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { arriving } from "../lib/arriving.ts";
import { direct } from "../lib/proxy.ts";
import { type BodyReader, readOutBy } from "../lib/read-out.ts";
import { markReceived } from "../lib/received.ts";

/** Who asked a node that passed the request on, as that node says. */
export interface Origin {
  /** Address at the other end of its connection. */
  peer: string | null;
  /** Whether it came by the port where plain HTTP is refused. */
  plain: boolean;
  /** How many nodes have passed it on before, if any. */
  hops?: number;
  /** Who is signed in; null: nobody; absent: not checked yet. */
  person?: Person | null;
}

/** Somebody with an account, as the cell knows them that has the accounts. */
export interface Person {
  id: string;
  email: string;
  role: "owner" | "member" | "viewer";
}

export const passedHeader = "x-runnel-passed";
/** Of an answer: what was passed on belongs elsewhere by now. */
export const movedHeader = "x-runnel-moved";
/** What a process asks other nodes for waits for nothing here. */
const send = globalThis.fetch;
const valid_ms = 60_000;

/** Signs and checks what nodes of one master key say to each other of a request. */
export function createNodeSeal(masterKey: Uint8Array, now: () => number = Date.now) {
  const key = createHmac("sha256", masterKey).update("runnel between nodes").digest();
  const origins = new WeakMap<Request, Origin | null>();
  /** What has been said of people who change something, and until when it counts, the oldest first. */
  const used = new Map<string, number>();
  const macOf = (said: string, method: string, path: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([said, method, path]))
      .digest();

  /** Null when no node has signed it for this method and path, or a minute ago. */
  function verify(value: string, method: string, path: string): Origin | null {
    const [said = "", mac = ""] = value.split(".");
    const [given, right] = [Buffer.from(mac, "base64url"), macOf(said, method, path)];
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
    const { until, once: _, ...origin } = JSON.parse(Buffer.from(said, "base64url").toString());
    return until > now() && (!changes(method) || !origin.person || isFirst(said, until)) ? origin : null;
  }

  /** Whoever reads along may not do again what somebody has done. */
  function isFirst(said: string, until: number): boolean {
    for (const [old, ends] of used) {
      if (ends > now()) break;
      used.delete(old);
    }
    if (used.has(said)) return false;
    used.set(said, until);
    return true;
  }

  return {
    /** The header's value for a request with this method and path. */
    sign(origin: Origin, method: string, path: string): string {
      const said = Buffer.from(JSON.stringify({ ...origin, until: now() + valid_ms, once: randomUUID() })).toString(
        "base64url",
      );
      return `${said}.${macOf(said, method, path).toString("base64url")}`;
    },
    verify,
    /** As `verify`, and null for what has been verified before. */
    verifyOnce(value: string, method: string, path: string): Origin | null {
      const origin = verify(value, method, path);
      return origin && isFirst(value.split(".")[0]!, now() + valid_ms) ? origin : null;
    },
    /** A node's word of who asked; null for a request that came from outside, or with a word that is none. */
    originOf(request: Request): Origin | null {
      const value = request.headers.get(passedHeader);
      if (value === null) return null;
      if (!origins.has(request)) origins.set(request, verify(value, request.method, pathOf(request.url)));
      return origins.get(request)!;
    },
  };
}

const changes = (method: string): boolean => method !== "GET" && method !== "HEAD";

export type NodeSeal = ReturnType<typeof createNodeSeal>;

/**
 * The path with its query, as the next node gets it. The runtime's client leaves off fragments, and all but one slash of
 * a path that begins with several: encoded, they are as unknown to the router as they are. An address without a host is a
 * path; that of CONNECT is none.
 */
export function pathOf(url: string): string {
  const at = url.startsWith("http") ? url.indexOf("/", 8) : 0;
  const path = at > 0 ? url.slice(at) : url;
  const plain = path.startsWith("/") ? path : `/${path}`;
  return plain.replace(/^\/\/+/, (slashes) => `/${"%2F".repeat(slashes.length - 1)}`).replaceAll("#", "%23");
}

/** By what nodes verify each other: the name for which each shows a certificate that it made for itself. */
export const nodeName = "node.runnel.internal";

/** How the node that shows this certificate is reached; nothing for plain HTTP. The name in `Host` is the public one. */
export const nodeTls = (certificate: string) =>
  certificate === "" ? undefined : { ca: certificate, serverName: nodeName, checkServerIdentity: () => undefined };

/** Of one hop, and made anew for the next. */
const ofHop = ["connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "expect", passedHeader];
/** A body of no more is read as a whole before it is passed on. */
const whole_bytes = 64 * 1024;

interface PassOptions {
  address: string;
  tls?: object;
  seal: NodeSeal;
  origin: Origin;
  /** Ends it. */
  until?: AbortSignal;
}

/**
 * Passes a request on to another node and its answer back, both as streams. Throws when the node is not reached, and
 * `BodyStopped` where the client fell silent.
 */
export async function passOn(request: Request, { address, tls, seal, origin, until }: PassOptions): Promise<Response> {
  const path = pathOf(request.url);
  // The runtime's client reads no body of an answer to TRACE. Both are refused alike.
  const method = request.method === "TRACE" ? "CONNECT" : request.method;
  const headers = new Headers(request.headers);
  for (const name of ofHop) headers.delete(name);
  headers.set(passedHeader, seal.sign(origin, method, path));
  if (!headers.has("host")) headers.set("host", ""); // It is for the leader to refuse that.
  const { body, isWhole, readOut } = await bodyOf(request, headers);
  /** The client may read no answer before it has sent everything. */
  const readRest = async (...said: Headers[]) => {
    if (!isWhole() && said.some(isClosing)) await readOut();
  };
  const signal = until ? AbortSignal.any([request.signal, until]) : request.signal;
  const answer = await send(`${address}${path}`, {
    method,
    headers,
    redirect: "manual",
    decompress: false,
    timeout: false,
    signal,
    body,
    tls,
    ...direct,
  } as RequestInit).catch(async (error) => {
    await readRest(request.headers);
    throw error;
  });
  const back = new Headers(answer.headers);
  for (const name of ofHop) back.delete(name);
  if (isClosing(answer.headers)) back.set("connection", "close");
  await readRest(answer.headers, request.headers);
  const { status, statusText } = answer;
  return new Response(method === "HEAD" ? null : answer.body, { status, statusText, headers: back });
}

const isClosing = (headers: Headers): boolean => /(^|,)\s*close\s*(,|$)/i.test(headers.get("connection") ?? "");

/** Whoever has sent all of it waits for the server from then on. */
async function bodyOf(request: Request, headers: Headers) {
  const { body, method } = request;
  const nothing = { isWhole: () => true, readOut: async () => {} };
  if (body === null || !changes(method)) return { body: null, ...nothing };
  const announced = headers.get("content-length") ?? "";
  if (!/^\d+$/.test(announced)) headers.delete("content-length"); // The same twice.
  if (announced === "" || Number(announced) > whole_bytes) return streamOf(request, body.getReader());
  const pieces = await Array.fromAsync(arriving(body));
  markReceived(request);
  return { body: Buffer.concat(pieces), ...nothing };
}

function streamOf(request: Request, reader: BodyReader) {
  let isWhole = false;
  let came = performance.now();
  const read = async () => {
    const part = await reader.read();
    came = performance.now();
    if (part.done) {
      isWhole = true;
      markReceived(request);
    }
    return part;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await read();
      if (done) controller.close();
      else controller.enqueue(value!);
    },
  });
  const rest = { read, cancel: (why: unknown) => reader.cancel(why) };
  // The node that answers has waited through the same silence.
  return { body, isWhole: () => isWhole, readOut: () => readOutBy(rest, performance.now() - came) };
}
