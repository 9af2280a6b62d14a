import http from "node:http";
import { isIP } from "node:net";
import { withDotSegmentDetection } from "../../http/dot-segments.ts";
import { head_bytes } from "../../http/header-size-limit.ts";
import type { Certificate } from "../../lib/certificate.ts";
import type { Log } from "../../lib/log.ts";
import { createPoll } from "../../lib/poll.ts";
import { isBodyReceived } from "../../lib/request-body-state.ts";
import { requireValue } from "../../lib/require-value.ts";
import { nodeName } from "../../storage/replication/node-auth.ts";
import { CliError } from "../commands/exit-code.ts";
import { forwardConnections } from "./socket-takeover.ts";

export type Handle = (request: Request) => Response | Promise<Response>;

export interface ListenerOptions {
  host: string;
  port: number;
  /** Null for plain HTTP. */
  certificate: Certificate | null;
  /** Additional certificate for nodes, which connect with their own server name. */
  own?: Pick<Certificate, "cert" | "key"> | null;
  handle: Handle;
  log: Log;
  /** Idle timeout of a connection in seconds. */
  idle_s?: number;
  /** True if another process listens on the port and will release it. */
  beside?: boolean;
}

/** The server socket. */
interface Listener {
  port: number;
  /** From now on new connections get this certificate; those that are open go on. */
  renew(certificate: Certificate): void;
  peerOf(request: Request): string | null;
  /** Ends each connection after its next response. Resolves when every request in flight has its response. */
  makeWay(): Promise<void>;
  /** Accepts no more connections. Resolves after the last response, streams included. */
  stop(): Promise<void>;
  /** Closes the remaining connections. */
  cut(): Promise<void>;
}

// Headers above the server's limit get an explanation, up to this size; beyond it the parser responds on its own.
(http as { maxHeaderSize: number }).maxHeaderSize = 4 * head_bytes;

/** Options of all listeners. */
export const listenDefaults = {
  idleTimeout: 30,
  // Unlimited, because the routes have limits of their own with explanations; unread bodies are not kept.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  development: false,
  reusePort: true, // The listener of the next certificate or process shares the port. `takePort` excludes all others.
} as const;

// Time that a replaced listener stays open. Handshakes that began with it take a few round trips, and idle connections
// close after `idleTimeout`: closing them earlier could lose a request in transit. If new connections cannot be led
// away from it, it must close soon.
export const retire_ms = (listenDefaults.idleTimeout + 5) * 1000;
export const retireEarly_ms = 3000; // Used when the next certificate waits.
const retireShared_ms = 200;

/** Listens. Throws if the port is taken. */
export function createListener(options: ListenerOptions): Listener {
  const open = (certificate: Certificate | null, port: number): Door =>
    openDoor({ ...options, certificate, port, onRequest: () => holding.wake() });
  let current = takePort(options, () => open(options.certificate, options.port));
  const port = requireValue(current.server.port, "The port");
  if (options.beside) takeConnections(port, current.server);
  let isForwarding: boolean | undefined; // True if new connections go to the newest of several listeners.
  /** Replaced listeners that still have connections: a stream lives as long as its run. */
  const old = new Set<Door>();
  let waiting: Certificate | null = null;
  let stopWaiting = () => {};
  let retiring = false;
  let closed = false;

  // One at a time: with three sockets on the port new connections would go to the second.
  async function replace(): Promise<void> {
    retiring = true;
    for (let next = waiting; next && !closed; next = waiting) {
      waiting = null;
      isForwarding ??= forwardConnections(port); // While there is one socket; not at the start, which it would slow down.
      const before = current;
      try {
        current = open(next, port);
      } catch (error) {
        options.log.error("the new certificate cannot be served; the one before stays", { error });
        continue;
      }
      before.last = true;
      old.add(before);
      await retirement();
      void before.server.stop(false).then(() => old.delete(before));
    }
    retiring = false;
  }

  async function retirement(): Promise<void> {
    const startedAt = performance.now();
    if (!isForwarding) return await Bun.sleep(retireShared_ms);
    const { promise: nextCertificate, resolve } = Promise.withResolvers<void>();
    stopWaiting = resolve;
    const timer = setTimeout(resolve, retire_ms).unref();
    await nextCertificate;
    clearTimeout(timer);
    await Bun.sleep(Math.max(0, Math.min(retireEarly_ms, retire_ms) - (performance.now() - startedAt)));
  }

  const doors = () => [current, ...old];
  const all = () => doors().map(({ server }) => server);
  const { idle_s = listenDefaults.idleTimeout } = options;
  const holding = createPoll({
    every_ms: (idle_s * 1000) / 3,
    look: () => doors().reduce((isPending, door) => door.hold() || isPending, false),
  });
  return {
    port,
    renew(certificate) {
      waiting = certificate;
      if (retiring) stopWaiting();
      else void replace();
    },
    // Any server knows the peer of every request, even if another server accepted it.
    peerOf: (request) => current.server.requestIP(request)?.address.replace(mappedPrefix, "") ?? null,
    async makeWay() {
      await Promise.all(
        doors().map((door) => {
          door.last = true;
          return door.answered();
        }),
      );
    },
    async stop() {
      closed = true;
      await Promise.all(all().map((server) => server.stop(false)));
      holding.stop();
    },
    async cut() {
      holding.stop();
      await Promise.all(all().map((server) => server.stop(true)));
    },
  };
}

/** IPv6 prefix of IPv4 addresses on a dual-stack socket. */
const mappedPrefix = /^::ffff:(?=\d+\.)/i;

interface Door {
  server: Bun.Server<undefined>;
  /**
   * True once replaced: each response closes its connection, so that the client's next request reaches the new
   * listener.
   */
  last: boolean;
  /**
   * Keeps connections open whose client has sent its request and waits: `?wait=60` exceeds the idle timeout. Returns
   * true if there are requests in flight.
   */
  hold(): boolean;
  /** Resolves when every request in flight has its response. */
  answered(): Promise<void>;
}

function openDoor({
  host,
  port,
  certificate,
  own,
  handle,
  idle_s = listenDefaults.idleTimeout,
  onRequest,
}: Omit<ListenerOptions, "log"> & { onRequest(): void }): Door {
  const tls = certificate && [
    { cert: certificate.cert, key: certificate.key },
    ...(own ? [{ ...own, serverName: nodeName }] : []),
  ];
  const pending = new Set<Request>();
  let onAnswered = (_: Request): void => {};
  const door: Omit<Door, "server"> & { server?: Door["server"] } = {
    last: false,
    hold() {
      for (const request of pending) if (isBodyReceived(request)) door.server?.timeout(request, idle_s);
      return pending.size > 0;
    },
    answered() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const remaining = new Set(pending);
      onAnswered = (request) => {
        remaining.delete(request);
        if (remaining.size === 0) resolve();
      };
      if (remaining.size === 0) resolve();
      return promise;
    },
  };
  async function fetch(request: Request): Promise<Response> {
    pending.add(request);
    onRequest();
    try {
      const answer = await handle(request);
      return door.last ? lastAnswer(answer) : answer;
    } finally {
      pending.delete(request);
      onAnswered(request);
    }
  }
  const options = { ...listenDefaults, idleTimeout: idle_s, hostname: host, port, ...withDotSegmentDetection(fetch) };
  door.server = Bun.serve({ ...options, ...(tls && { tls }) });
  return door as Door;
}

function lastAnswer(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}

interface PortOptions {
  host: string;
  port: number;
  beside?: boolean;
}

/**
 * Opens a port exclusively: a second server of the same user would share it silently. Throws if it is taken, unless its
 * owner is about to release it (`beside`).
 */
export function takePort<T>({ host, port, beside }: PortOptions, open: () => T, flag?: string): T {
  try {
    if (port !== 0 && !beside) Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return open();
  } catch (error) {
    throw explained(error, host, port, flag);
  }
}

/** Directs new connections to this process instead of the previous listener. */
export function takeConnections(port: number, server: Bun.Server<undefined>): void {
  if (forwardConnections(port)) return;
  void server.stop(true);
  throw new CliError("This system cannot lead connections from one process to another.");
}

/** Explains why a port cannot be opened. */
function explained(error: unknown, host: string, port: number, flag = "--port"): unknown {
  const { code, message, syscall } = error as Partial<NodeJS.ErrnoException>;
  // An unknown host name has no code of its own: Bun.serve gives none, or the code of the last failure, even that of a
  // taken port.
  const isUnknownName =
    isIP(host) === 0 &&
    host !== "localhost" &&
    syscall === "listen" &&
    !["EACCES", "EMFILE", "ENFILE"].includes(code ?? "");
  const isTaken = code === "EADDRINUSE";
  if (isTaken && !isUnknownName)
    return new CliError(`Port ${port} of ${host} is taken. ${flag} gives another one, 0 any free one.`);
  const hasNoAddress = ["EADDRNOTAVAIL", "ENOTFOUND", "EINVAL"].includes(code ?? "");
  if (isUnknownName || hasNoAddress || message?.startsWith("Failed to listen at")) {
    const orTaken = isTaken && port !== 0 ? ` Or port ${port} is taken there: ${flag} gives another one.` : "";
    return new CliError(`--host ${host} is no address of this machine, and no name of one.${orTaken}`);
  }
  if (code === "EACCES")
    return new CliError(
      `Port ${port} may not be opened by this user. Allow it: setcap cap_net_bind_service=+ep on the executable, or AmbientCapabilities=CAP_NET_BIND_SERVICE in its systemd unit.`,
    );
  return error;
}
