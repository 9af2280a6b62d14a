import http from "node:http";
import { isIP } from "node:net";
import { nodeName } from "../cluster/between-nodes.ts";
import { noticingDotSegments } from "../http/dot-segments.ts";
import { head_bytes } from "../http/refuse-large-head.ts";
import type { Certificate } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import { isReceived } from "../lib/received.ts";
import { CliError } from "./exit-code.ts";
import { leadToSecond } from "./lead-connections.ts";

export type Handle = (request: Request) => Response | Promise<Response>;

export interface ListenerOptions {
  host: string;
  port: number;
  /** Null for plain HTTP. */
  certificate: Certificate | null;
  /** What is shown beside it to nodes, who ask by their own name. */
  own?: Pick<Certificate, "cert" | "key"> | null;
  handle: Handle;
  log: Log;
  /** A connection on which nothing moves for so many seconds is closed. */
  idle_s?: number;
  /** Another process listens on the port and makes way for this one. */
  beside?: boolean;
}

/** The door that requests come in by. */
interface Listener {
  port: number;
  /** From now on new connections get this certificate; those that are open go on. */
  renew(certificate: Certificate): void;
  peerOf(request: Request): string | null;
  /** Ends each connection with its next answer. Settles when every request that is under way now has its answer. */
  makeWay(): Promise<void>;
  /** Takes no more connections. Settles when the last answer is out; streams are waited for too. */
  stop(): Promise<void>;
  /** Cuts what is still open. */
  cut(): Promise<void>;
}

// What is larger than the server takes is refused with an explanation, up to here; beyond it the parser answers alone.
(http as { maxHeaderSize: number }).maxHeaderSize = 4 * head_bytes;

/** What every listener of runnel has in common. */
export const listenDefaults = {
  idleTimeout: 30,
  // The routes have limits of their own, which answer with an explanation; what they do not read is kept nowhere.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  development: false,
  reusePort: true, // The next certificate, or the next process, listens beside this one. `takePort` keeps strangers out.
} as const;

// How long the old listener stays after it was replaced. Handshakes that were begun with it take a few round trips, and
// a connection that waits for its next request ends by itself after `idleTimeout`: cut before, it could cost a request
// that is just on its way. Where new connections cannot be led away from it, it has to go soon.
export const retire_ms = (listenDefaults.idleTimeout + 5) * 1000;
export const retireEarly_ms = 3000; // When the next one waits.
const retireShared_ms = 200;

/** Listens; throws when the port is taken. */
export function createListener(options: ListenerOptions): Listener {
  const open = (certificate: Certificate | null, port: number): Door => openDoor({ ...options, certificate, port });
  let current = takePort(options, () => open(options.certificate, options.port));
  const port = current.server.port!;
  if (options.beside) leadHere(port, current.server);
  let led: boolean | undefined; // Whether new connections are led to the newest of several listeners.
  /** Listeners that were replaced and still have connections: a stream lives as long as its run. */
  const old = new Set<Door>();
  let waiting: Certificate | null = null;
  let wake = () => {};
  let retiring = false;
  let closed = false;

  // One after another: of three sockets on the port new connections would get the middle one.
  async function replace(): Promise<void> {
    retiring = true;
    for (let next = waiting; next && !closed; next = waiting) {
      waiting = null;
      led ??= leadToSecond(port); // While there is one socket, and not at the start, which it would slow down.
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
    const begun = performance.now();
    if (!led) return await Bun.sleep(retireShared_ms);
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, retire_ms).unref();
    await asked;
    clearTimeout(timer);
    await Bun.sleep(Math.max(0, Math.min(retireEarly_ms, retire_ms) - (performance.now() - begun)));
  }

  const doors = () => [current, ...old];
  const all = () => doors().map(({ server }) => server);
  const { idle_s = listenDefaults.idleTimeout } = options;
  const holding = setInterval(
    () => {
      for (const door of doors()) door.hold();
    },
    (idle_s * 1000) / 3,
  );
  return {
    port,
    renew(certificate) {
      waiting = certificate;
      if (retiring) wake();
      else void replace();
    },
    // Any server knows the peer of every request, also of one that another server took.
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
      clearInterval(holding);
    },
    async cut() {
      clearInterval(holding);
      await Promise.all(all().map((server) => server.stop(true)));
    },
  };
}

/** On a socket for both families the system shows IPv4 addresses in the other's clothes. */
const mappedPrefix = /^::ffff:(?=\d+\.)/i;

interface Door {
  server: Bun.Server<undefined>;
  /** It was replaced: each answer is its connection's last, and the client's next request gets to the new one. */
  last: boolean;
  /** Has the connections live on whose client sent everything and waits: `?wait=60` is longer than one may be idle. */
  hold(): void;
  /** Settles when every request that is under way now has its answer. */
  answered(): Promise<void>;
}

function openDoor({
  host,
  port,
  certificate,
  own,
  handle,
  idle_s = listenDefaults.idleTimeout,
}: Omit<ListenerOptions, "log">): Door {
  const tls = certificate && [
    { cert: certificate.cert, key: certificate.key },
    ...(own ? [{ ...own, serverName: nodeName }] : []),
  ];
  const pending = new Set<Request>();
  let onAnswered = (_: Request): void => {};
  const door: Omit<Door, "server"> & { server?: Door["server"] } = {
    last: false,
    hold() {
      for (const request of pending) if (isReceived(request)) door.server?.timeout(request, idle_s);
    },
    answered() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const awaited = new Set(pending);
      onAnswered = (request) => {
        awaited.delete(request);
        if (awaited.size === 0) resolve();
      };
      if (awaited.size === 0) resolve();
      return promise;
    },
  };
  async function fetch(request: Request): Promise<Response> {
    pending.add(request);
    try {
      const answer = await handle(request);
      return door.last ? lastAnswer(answer) : answer;
    } finally {
      pending.delete(request);
      onAnswered(request);
    }
  }
  const options = { ...listenDefaults, idleTimeout: idle_s, hostname: host, port, ...noticingDotSegments(fetch) };
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
 * Opens a port that nobody else has: a second server of the same user would share it silently. Throws where it is taken,
 * unless whoever has it makes way.
 */
export function takePort<T>({ host, port, beside }: PortOptions, open: () => T, flag?: string): T {
  try {
    if (port !== 0 && !beside) Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return open();
  } catch (error) {
    throw explained(error, host, port, flag);
  }
}

/** From now on new connections come to this process, and none of them to the one that listened before. */
export function leadHere(port: number, server: Bun.Server<undefined>): void {
  if (leadToSecond(port)) return;
  void server.stop(true);
  throw new CliError("This system cannot lead connections from one process to another.");
}

/** Says what to do about a port that cannot be had. */
function explained(error: unknown, host: string, port: number, flag = "--port"): unknown {
  const { code, message, syscall } = error as Partial<NodeJS.ErrnoException>;
  // A name that is not found has no code of its own: one way to listen gives none, and the other one the code of whatever
  // failed last, of a port in use too.
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
