import { afterAll, beforeEach, expect } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createEgress, EgressError, type EgressPolicy, type EgressRequest, type Resolve } from "../lib/egress.ts";
import { removeProxyEnvironment } from "../lib/proxy.ts";
import { createCertificateAuthority } from "./certificate-authority.ts";

/** An address whose hosts no test ever reaches. */
export const publicIp = "93.184.215.14";

/** A request as a server received it. */
type Seen = { method: string; path: string; host: string | null; headers: Headers; body: string };

const bomb = gzipSync(Buffer.alloc(64 << 20));

function serve(seen: Seen[], tls?: { key: string; cert: string }) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const { method, headers } = request;
      seen.push({ method, path: pathname, host: headers.get("host"), headers, body: await request.text() });
      if (pathname === "/to")
        return new Response("moved", {
          status: Number(searchParams.get("status") ?? 302),
          headers: { location: searchParams.get("url") ?? "" },
        });
      if (pathname === "/nowhere") return new Response("moved", { status: 302 });
      if (pathname === "/big") return new Response("x".repeat(100_000));
      if (pathname === "/bomb") return new Response(bomb, { headers: { "content-encoding": "gzip" } });
      if (pathname === "/gzip") return new Response(gzipSync("zipped"), { headers: { "content-encoding": "gzip" } });
      if (pathname === "/deflate")
        return new Response(deflateSync("zipped"), { headers: { "content-encoding": "deflate" } });
      if (pathname === "/br")
        return new Response(brotliCompressSync("zipped"), { headers: { "content-encoding": "br" } });
      if (pathname === "/empty-gzip") return new Response(null, { headers: { "content-encoding": "gzip" } });
      if (pathname === "/lie") return new Response("not zipped", { headers: { "content-encoding": "gzip" } });
      return new Response("hello", { headers: { "x-answer": "42" } });
    },
  });
}

/** A raw TCP server that handles each connection by a script. */
export async function rawServer(onConnection: (socket: Socket) => void, hostname = "127.0.0.1") {
  const sockets: Socket[] = [];
  const raw: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => raw.listen(0, hostname, resolve));
  const address = raw.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    raw.close();
  };
  return { port: address.port, sockets, [Symbol.dispose]: close };
}

/** Names that the tests resolve; any other one is public and has no server. */
export const names: Record<string, string[]> = {
  "good.test": ["127.0.0.1"],
  "other.test": ["127.0.0.1"],
  "wrong.test": ["127.0.0.1"],
  "internal.test": ["10.0.0.5"],
  "mixed.test": [publicIp, "10.0.0.5"],
  "mixed6.test": [publicIp, "::ffff:127.0.0.1"],
  "meta.test": ["169.254.169.254"],
  "meta6.test": ["fd00:ec2::254"],
  "garbage.test": ["0177.0.0.1"],
  "zone.test": ["fe80::1%eth0"],
  "nothing.test": [],
  "gone.localhost": [],
};
const resolve: Resolve = async (host) => names[host] ?? [publicIp];

/** Returns the error code, or the response. */
export async function codeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await work() };
  } catch (error) {
    if (!(error instanceof EgressError)) return error;
    return error.code;
  }
}

/** Returns null if the deadline came too early: a busy machine may need all of a short timeout. */
export function timeoutAsNull(error: unknown): null {
  if (error instanceof EgressError && error.code === "timeout") return null;
  throw error;
}

export const text = (body: Uint8Array) => Buffer.from(body).toString();

/**
 * Starts the servers of a test file, which hooks of this file reset and stop, and returns them with the requests to
 * them. `canary` listens where a leak of the guard would arrive: no test may ever connect to it.
 */
export async function startEgressServers() {
  removeProxyEnvironment();
  const { ca, issue } = await createCertificateAuthority();
  const { cert, key } = await issue({ names: ["good.test", "other.test", "127.0.0.1"] });
  const seen: Seen[] = [];
  const server = serve(seen, { key, cert });
  const plain = serve(seen);
  const port = server.port;
  const canary = await rawServer((socket) => socket.destroy(), "0.0.0.0");

  beforeEach(() => {
    seen.length = 0;
  });

  afterAll(async () => {
    const visitors = canary.sockets.length;
    canary[Symbol.dispose]();
    await server.stop(true);
    await plain.stop(true);
    expect(visitors).toBe(0);
  });

  const egress = (policy: Partial<EgressPolicy> = {}, lookup = resolve) =>
    createEgress({ allow: [`good.test:${port}`], loopback: false, ca, ...policy }, lookup);
  const failure = (url: string, request?: EgressRequest, policy?: Partial<EgressPolicy>, lookup?: Resolve) =>
    codeOf(() => egress(policy, lookup).fetch(url, request));
  return { ca, plain, port, canary, seen, egress, failure };
}
