import { createHmac, timingSafeEqual } from "node:crypto";

/** Who asked a node that passed the request on, as that node says. */
export interface Origin {
  /** Address at the other end of its connection. */
  peer: string | null;
  /** Whether it came by the port where plain HTTP is refused. */
  plain: boolean;
  /** How many nodes have passed it on before, if any. */
  hops?: number;
  /** Who is signed in where it came from, if that node has looked. */
  person?: Person;
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
  const macOf = (said: string, method: string, path: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([said, method, path]))
      .digest();

  return {
    /** The header's value for a request with this method and path. */
    sign(origin: Origin, method: string, path: string): string {
      const said = Buffer.from(JSON.stringify({ ...origin, until: now() + valid_ms })).toString("base64url");
      return `${said}.${macOf(said, method, path).toString("base64url")}`;
    },
    /** Null when no node has signed it for this method and path, or a minute ago. */
    verify(value: string, method: string, path: string): Origin | null {
      const [said = "", mac = ""] = value.split(".");
      const [given, right] = [Buffer.from(mac, "base64url"), macOf(said, method, path)];
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const { until, ...origin } = JSON.parse(Buffer.from(said, "base64url").toString());
      return until > now() ? origin : null;
    },
  };
}

export type NodeSeal = ReturnType<typeof createNodeSeal>;

const pathOf = (url: string): string => url.slice(url.indexOf("/", url.indexOf("//") + 2));

/** Of one hop, and made anew for the next. */
const ofHop = ["connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", passedHeader];

interface PassOptions {
  address: string;
  certificate: string;
  seal: NodeSeal;
  origin: Origin;
}

/** Passes a request on to another node and its answer back, both as streams. Throws when the node is not reached. */
export async function passOn(request: Request, { address, certificate, seal, origin }: PassOptions): Promise<Response> {
  const { method, url } = request;
  const path = pathOf(url);
  const headers = new Headers(request.headers);
  for (const name of ofHop) headers.delete(name);
  headers.set(passedHeader, seal.sign(origin, method, path));
  const hasBody = method !== "GET" && method !== "HEAD";
  const answer = await send(`${address}${path}`, {
    ...{ method, headers, redirect: "manual", decompress: false, timeout: false, signal: request.signal },
    ...(hasBody && { body: request.body }),
    // The certificate itself is known; the name in it is the public one.
    ...(certificate && { tls: { ca: certificate, checkServerIdentity: () => undefined } }),
  } as RequestInit);
  const back = new Headers(answer.headers);
  for (const name of ofHop) back.delete(name);
  const { status, statusText } = answer;
  return new Response(method === "HEAD" ? null : answer.body, { status, statusText, headers: back });
}

/** Takes a node's word of who asked; null for a request that came from outside. */
export function originOf(request: Request, seal: NodeSeal): Origin | null {
  const value = request.headers.get(passedHeader);
  return value === null ? null : seal.verify(value, request.method, pathOf(request.url));
}
