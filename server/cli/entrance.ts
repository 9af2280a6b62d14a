import type { DataDir } from "../db/data-dir.ts";
import type { Certificate } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import { keepWaiting } from "../lib/received.ts";
import { type CertificateSource, openCertificate } from "./certificate-source.ts";
import type { ListenPlan } from "./listen-plan.ts";
import { createListener, type Handle, type ListenerOptions, leadHere, listenDefaults, takePort } from "./listener.ts";

/** The ports that requests come in by, and the certificate that stands at the door. */
export type Entrance = Awaited<ReturnType<typeof openEntrance>>;

interface EntranceOptions {
  /** Another process listens on the ports and makes way for this one. */
  beside?: boolean;
  own?: ListenerOptions["own"];
}

/**
 * Listens as planned. Requests wait until they are let in; throws when a port is taken, unless it is by a process that
 * makes way for this one.
 */
export async function openEntrance(
  plan: ListenPlan,
  dir: DataDir,
  log: Log,
  { beside = false, own = null }: EntranceOptions = {},
) {
  const source = await openCertificate(plan, dir, log);
  let certificate: Certificate | null = source?.first ?? null;
  let handle: Handle | null = null;
  const { promise: opened, resolve: open } = Promise.withResolvers<Handle>();
  const enter: Handle = (request) =>
    handle ? handle(request) : keepWaiting(request, opened).then((admitted) => admitted(request));
  const listener = createListener({ ...plan, certificate, own, handle: enter, log, beside });
  const refused = plan.httpPort === null || !source ? null : await openPlain(plan.httpPort, source.answer);
  let onRenewed = () => {};
  const certified = source?.start((newer) => {
    certificate = newer;
    listener.renew(newer);
    onRenewed();
  });
  // What renewal tools send. A terminal sends it when it is closed, and then it means what it always did: the end.
  if (source && !process.stdin.isTTY) process.on("SIGHUP", source.look);

  return {
    port: listener.port,
    /** Where plain HTTP is refused; null for nowhere. */
    httpPort: refused?.port ?? null,
    certificate: () => certificate,
    isPlain: (request: Request): boolean => refused?.has(request) ?? false,
    isVouchedFor: (): boolean => certificate?.self_signed === false,
    peerOf: (request: Request): string | null => (refused?.has(request) ? refused : listener).peerOf(request),
    letIn(admitted: Handle): void {
      handle = admitted;
      open(admitted);
    },
    /** Ends each connection with its next answer. Settles when every request that is under way now has its answer. */
    makeWay: listener.makeWay,
    /** Settles when the certificate is there that was needed at once, or could not be had. */
    certified: certified ?? Promise.resolve(),
    /** Who is told when there is another certificate. */
    onRenewed(tell: () => void): void {
      onRenewed = tell;
    },
    /** Takes no more requests. Settles when the last answer is out; streams are waited for too. */
    async stop(): Promise<void> {
      source?.stop();
      await Promise.all([refused?.stop(), listener.stop()]);
    },
    /** Cuts what is still open. */
    cut: listener.cut,
  };

  async function openPlain(port: number, answer: CertificateSource["answer"]): Promise<PlainRequests> {
    try {
      return refusePlain({ host: plan.host, port, answer, handle: enter, beside });
    } catch (error) {
      await listener.cut(); // Or it would keep a process alive that has nothing to do.
      throw error;
    }
  }
}

interface RefusePlainOptions {
  host: string;
  port: number;
  /** What a certificate authority wants to read for a token that it gave; null for all others. */
  answer: (token: string) => string | null;
  /** Refuses everything else, and marks the key in it. */
  handle: Handle;
  beside: boolean;
}

/** Requests that came in clear text beside a port with TLS, and who sent them. */
interface PlainRequests {
  port: number;
  has(request: Request): boolean;
  peerOf(request: Request): string | null;
  stop(): Promise<void>;
}

/** Listens for plain HTTP, for no other reason than to refuse it and to show an authority that a name leads here. */
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
  if (beside) leadHere(server.port!, server);
  return {
    port: server.port!,
    has: (request) => peers.has(request),
    peerOf: (request) => peers.get(request) ?? null,
    stop: () => server.stop(true),
  };
}

const challenge = /^http:\/\/[^/]+\/\.well-known\/acme-challenge\/([\w-]{1,128})$/;
