import type { Certificate } from "../../lib/certificate.ts";
import type { Log } from "../../lib/log.ts";
import { keepConnectionOpen } from "../../lib/request-body-state.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import { type CertificateSource, openCertificate } from "./certificate-source.ts";
import type { ListenPlan } from "./listen-plan.ts";
import {
  createListener,
  type Handle,
  type ListenerOptions,
  listenDefaults,
  takeConnections,
  takePort,
} from "./listener.ts";

/** The server's ports and its certificate. */
export type Listeners = Awaited<ReturnType<typeof openListeners>>;

interface EntranceOptions {
  /** True if another process listens on the ports and will release them. */
  beside?: boolean;
  own?: ListenerOptions["own"];
}

/**
 * Listens as planned. Requests wait until `letIn`. Throws if a port is taken, unless its process is about to release
 * it.
 */
export async function openListeners(
  plan: ListenPlan,
  dir: DataDir,
  log: Log,
  { beside = false, own = null }: EntranceOptions = {},
) {
  const source = await openCertificate(plan, dir, log);
  let certificate: Certificate | null = source?.first ?? null;
  let handle: Handle | null = null;
  const { promise: handleReady, resolve: open } = Promise.withResolvers<Handle>();
  const enter: Handle = (request) =>
    handle ? handle(request) : keepConnectionOpen(request, handleReady).then((admitted) => admitted(request));
  const listener = createListener({ ...plan, certificate, own, handle: enter, log, beside });
  const plainRequests = plan.httpPort === null || !source ? null : await openPlain(plan.httpPort, source.answer);
  let onRenewed = () => {};
  const certified = source?.start((newer) => {
    certificate = newer;
    listener.renew(newer);
    onRenewed();
  });
  // SIGHUP from renewal tools. With a terminal it keeps its usual meaning: the terminal was closed.
  if (source && !process.stdin.isTTY) process.on("SIGHUP", source.look);

  return {
    port: listener.port,
    /** Port on which plain HTTP is refused; null for none. */
    httpPort: plainRequests?.port ?? null,
    certificate: () => certificate,
    isPlain: (request: Request): boolean => plainRequests?.has(request) ?? false,
    isVouchedFor: (): boolean => certificate?.self_signed === false,
    peerOf: (request: Request): string | null =>
      (plainRequests?.has(request) ? plainRequests : listener).peerOf(request),
    letIn(admitted: Handle): void {
      handle = admitted;
      open(admitted);
    },
    /** Ends each connection after its next response. Resolves when every request in flight has its response. */
    makeWay: listener.makeWay,
    /** Resolves when the certificate needed at once exists or could not be obtained. */
    certified: certified ?? Promise.resolve(),
    /** Sets the listener for certificate changes. */
    onRenewed(listenTo: () => void): void {
      onRenewed = listenTo;
    },
    /** Accepts no more requests. Resolves after the last response, streams included. */
    async stop(): Promise<void> {
      source?.stop();
      await Promise.all([plainRequests?.stop(), listener.stop()]);
    },
    /** Closes the remaining connections. */
    cut: listener.cut,
  };

  async function openPlain(port: number, answer: CertificateSource["answer"]): Promise<PlainRequests> {
    try {
      return refusePlain({ host: plan.host, port, answer, handle: enter, beside });
    } catch (error) {
      await listener.cut(); // Otherwise it would keep the process alive.
      throw error;
    }
  }
}

interface RefusePlainOptions {
  host: string;
  port: number;
  /** Returns the ACME challenge response for a token; null if the token is unknown. */
  answer: (token: string) => string | null;
  /** Refuses all other requests, and marks their keys as exposed. */
  handle: Handle;
  beside: boolean;
}

/** Plain HTTP requests to a server with TLS, and their senders. */
interface PlainRequests {
  port: number;
  has(request: Request): boolean;
  peerOf(request: Request): string | null;
  stop(): Promise<void>;
}

/** Listens for plain HTTP only to refuse it, and to answer the ACME challenges of an authority. */
function refusePlain({ host, port, answer, handle, beside }: RefusePlainOptions): PlainRequests {
  const peers = new WeakMap<Request, string | null>();
  const fetch = (request: Request, server: Bun.Server<undefined>): Response | Promise<Response> => {
    const token = request.method === "GET" ? challenge.exec(request.url)?.[1] : undefined;
    const file = token === undefined ? null : answer(token);
    if (file !== null) return new Response(file, { headers: { "content-type": "application/octet-stream" } });
    peers.set(request, server.requestIP(request)?.address ?? null);
    return handle(request);
  };
  const listen = () => Bun.serve({ ...listenDefaults, hostname: host, port, fetch });
  const server = takePort({ host, port, beside }, listen, "--http-port");
  const boundPort = requireValue(server.port, "The port");
  if (beside) takeConnections(boundPort, server);
  return {
    port: boundPort,
    has: (request) => peers.has(request),
    peerOf: (request) => peers.get(request) ?? null,
    stop: () => server.stop(true),
  };
}

const challenge = /^http:\/\/[^/]+\/\.well-known\/acme-challenge\/([\w-]{1,128})$/;
