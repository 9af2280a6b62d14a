import { explained, type Handle, listenDefaults } from "./listener.ts";

interface RefusePlainOptions {
  host: string;
  port: number;
  /** What a certificate authority wants to read for a token that it gave; null for all others. */
  answer: (token: string) => string | null;
  /** Refuses everything else, and marks the key in it. */
  handle: Handle;
}

/** Requests that came in clear text beside a port with TLS, and who sent them. */
export interface PlainRequests {
  port: number;
  has(request: Request): boolean;
  peerOf(request: Request): string | null;
  stop(): Promise<void>;
}

/** Listens for plain HTTP, for no other reason than to refuse it and to show an authority that a name leads here. */
export function refusePlain({ host, port, answer, handle }: RefusePlainOptions): PlainRequests {
  const peers = new WeakMap<Request, string | null>();
  const fetch = (request: Request, server: Bun.Server<undefined>): Response | Promise<Response> => {
    const token = request.method === "GET" ? challenge.exec(request.url)?.[1] : undefined;
    const file = token === undefined ? null : answer(token);
    if (file !== null) return new Response(file, { headers: { "content-type": "application/octet-stream" } });
    peers.set(request, server.requestIP(request)?.address ?? null);
    return handle(request);
  };
  const server = listen();
  return {
    port: server.port!,
    has: (request) => peers.has(request),
    peerOf: (request) => peers.get(request) ?? null,
    stop: () => server.stop(true),
  };

  function listen(): Bun.Server<undefined> {
    try {
      return Bun.serve({ ...listenDefaults, hostname: host, port, fetch });
    } catch (error) {
      throw explained(error, host, port, "--http-port");
    }
  }
}

const challenge = /^http:\/\/[^/]+\/\.well-known\/acme-challenge\/([\w-]{1,128})$/;
