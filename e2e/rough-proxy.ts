import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Runnel } from "./harness.ts";

/** Fault of a request: by default it is forwarded whole. */
export interface RequestFault {
  /** Action on the server before the request is forwarded. */
  first?: () => Promise<unknown>;
  /** The connection is cut, and the server gets nothing. */
  loseRequest?: boolean;
  /** No response is ever sent. */
  mute?: boolean;
  /** The server executes it, and its response is lost. */
  loseResponse?: boolean;
  /** Number of bytes of the body after which the connection is cut. */
  cutAfter?: number;
  /** Number of bytes of the body after which the connection stays silent. */
  silentAfter?: number;
  /** The proxy responds by itself. */
  respond?: { status: number; headers?: Record<string, string>; body: string };
}

export interface ForwardedRequest {
  method: string;
  path: string;
  /** Its `Idempotency-Key`. */
  key: string | undefined;
}

type FateOf = (request: ForwardedRequest, earlier: readonly ForwardedRequest[]) => RequestFault;

export type RoughProxy = Awaited<ReturnType<typeof startRoughProxy>>;

/** Starts a proxy with faults by `fateOf`, at an address that stays when the server restarts. */
export async function startRoughProxy(server: Runnel, fateOf: FateOf = () => ({})) {
  const requests: ForwardedRequest[] = [];
  const abort = new AbortController();
  const proxy = createServer(async (incoming, outgoing) => {
    const cut = () => incoming.socket.destroy();
    outgoing.on("error", () => {});
    try {
      const body = await bodyOf(incoming);
      const { method = "GET", url: path = "/" } = incoming;
      const passed = { method, path, key: incoming.headers["idempotency-key"] as string | undefined };
      const fate = fateOf(passed, [...requests]);
      requests.push(passed);
      await fate.first?.();
      if (fate.loseRequest) cut();
      if (fate.loseRequest || fate.mute) return;
      if (fate.respond) {
        outgoing.writeHead(fate.respond.status, fate.respond.headers).end(fate.respond.body);
        return;
      }
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).filter(
          ([name]) => !/^(host|connection|content-length|accept-encoding)$/.test(name),
        ),
      ) as Record<string, string>;
      const left = new AbortController();
      outgoing.on("close", () => left.abort());
      const signal = AbortSignal.any([abort.signal, left.signal]);
      const response = await server.fetch(path, {
        method,
        headers,
        signal,
        key: null,
        body: body.length > 0 ? new Uint8Array(body) : undefined,
      });
      if (fate.loseResponse) {
        await response.body?.getReader().read();
        left.abort();
        cut();
        return;
      }
      const passedOn = [...response.headers].filter(
        ([name]) => !/^(content-length|content-encoding|connection)$/.test(name),
      );
      outgoing.writeHead(response.status, Object.fromEntries(passedOn));
      outgoing.flushHeaders();
      let room = fate.cutAfter ?? fate.silentAfter ?? Number.POSITIVE_INFINITY;
      for await (const chunk of response.body ?? []) {
        await new Promise((written) => outgoing.write(chunk.subarray(0, Math.max(0, room)), written));
        room -= chunk.length;
        if (room > 0) continue;
        if (fate.cutAfter !== undefined) cut();
        return;
      }
      outgoing.end();
    } catch {
      cut(); // The server is gone, and so is the connection.
    }
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    /** Replaces the faults; earlier requests are forgotten. */
    set fateOf(next: FateOf) {
      requests.length = 0;
      fateOf = next;
    },
    [Symbol.dispose]() {
      abort.abort();
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
