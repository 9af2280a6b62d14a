import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Runnel } from "./harness.ts";

/** A request as the proxy got it. */
interface Proxied {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
}

/** What goes wrong between a client and the server. */
type Fault =
  /** The proxy answers in the server's place. */
  | { kind: "answer"; status: number; headers?: Record<string, string> }
  /** The server got the request, and its response is lost. */
  | { kind: "lose" }
  /** The connection is cut after so many bytes of the body. */
  | { kind: "cut"; after: number }
  /** After so many bytes of the body nothing comes any more, and the connection stays. */
  | { kind: "silence"; after: number };

export type CuttingProxy = Awaited<ReturnType<typeof startCuttingProxy>>;

/**
 * What may stand between a client and the server, at one address over all restarts of the server. `fault` says what
 * goes wrong with a request; without one it is passed on.
 */
export async function startCuttingProxy(server: Runnel) {
  const requests: Proxied[] = [];
  let fault: (request: Proxied) => Fault | null = () => null;
  const proxy = createServer(async (incoming, outgoing) => {
    const { method = "", url: path = "", headers } = incoming;
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const asked = { method, path, headers };
    requests.push(asked);
    const wrong = fault(asked);
    try {
      if (wrong?.kind === "answer") {
        outgoing.writeHead(wrong.status, wrong.headers).end();
        return;
      }
      const response = await passOn(server, incoming, gone.signal);
      if (wrong?.kind === "lose") {
        await response.body?.cancel();
        incoming.socket.destroy();
        return;
      }
      const kept = [...response.headers].filter(
        ([name]) => !/^(content-length|content-encoding|connection)$/.test(name),
      );
      outgoing.writeHead(response.status, Object.fromEntries(kept));
      outgoing.flushHeaders();
      let left = wrong?.after ?? Number.POSITIVE_INFINITY;
      for await (const chunk of response.body ?? []) {
        outgoing.write(chunk.subarray(0, Math.min(left, chunk.length)));
        left -= chunk.length;
        if (left > 0) continue;
        await Bun.sleep(20); // Until what was written has gone out.
        if (wrong?.kind === "cut") incoming.socket.destroy();
        return;
      }
      outgoing.end();
    } catch {
      incoming.socket.destroy(); // The server died, or the client left.
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    /** From here on; the requests until now are forgotten. */
    set fault(next: (request: Proxied) => Fault | null) {
      requests.length = 0;
      fault = next;
    },
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

async function passOn(server: Runnel, incoming: IncomingMessage, signal: AbortSignal): Promise<Response> {
  const pieces: Uint8Array[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (!/^(host|connection|content-length|accept-encoding)$/.test(name)) headers.set(name, String(value));
  const body = pieces.length > 0 ? Buffer.concat(pieces) : null;
  const { method = "GET", url = "/" } = incoming;
  return await fetch(server.url + url, { method, headers, body, signal, redirect: "manual", tls: { ca: server.ca } });
}
