import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

export type Canaries = Awaited<ReturnType<typeof openCanaries>>;

/** Connection that arrived: its protocol, its source port and the address that it reached. */
type Visit = { protocol: "tcp" | "udp"; port: number; to: string };

/**
 * Listeners at which a request arrives if a guard let it through: one port, TCP and UDP, at every address of this
 * machine.
 */
export async function openCanaries() {
  const { server, udp, port } = await bind();
  const visits: Visit[] = [];
  let wake = Promise.withResolvers<void>();
  const note = (visit: Visit) => {
    visits.push(visit);
    wake.resolve();
    wake = Promise.withResolvers();
  };
  server.on("connection", (socket) => {
    note({ protocol: "tcp", port: socket.remotePort ?? 0, to: socket.localAddress ?? "" });
    socket.on("error", () => {});
    socket.destroy();
  });
  udp.on("message", (_, { port }) => note({ protocol: "udp", port, to: "" }));

  /** Connects to an address by both protocols, and resolves once both connections arrived. */
  async function knock(host: string): Promise<Visit[]> {
    const tcp = await arrive(host, port);
    const datagrams = createSocket(host.includes(":") ? "udp6" : "udp4");
    await new Promise<unknown>((resolve) => datagrams.send("knock", port, host, resolve));
    const own = [tcp, datagrams.address().port];
    datagrams.close();
    const heard = () => visits.filter((visit) => own[visit.protocol === "tcp" ? 0 : 1] === visit.port);
    while (heard().length < 2) await wake.promise;
    return heard();
  }

  return {
    port,
    /** The canaries' addresses, as written in URLs. */
    hosts: localHosts().map((host) => (host.includes(":") ? `[${host}]` : host)),
    /** Number of arrivals since `forget`, without our own knocks once `strangers` has received them. */
    count: () => visits.length,
    /**
     * Returns all arrivals that are not our own. Knocks at each address first, which proves that the canaries listen
     * and have received everything that came before.
     */
    async strangers(): Promise<Visit[]> {
      for (const host of localHosts()) for (const visit of await knock(host)) visits.splice(visits.indexOf(visit), 1);
      return [...visits];
    },
    forget: () => void visits.splice(0),
    async [Symbol.asyncDispose]() {
      udp.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Returns this machine by every address that it has; without link-local ones, which need a zone and cannot appear in a
 * URL.
 */
function localHosts(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
  const usable = own.filter((address) => !address.startsWith("fe80"));
  return [...new Set(["127.0.0.1", "127.0.0.2", "0.0.0.0", ...usable])];
}

/** Binds a port that is free for TCP and UDP at all addresses; without IPv6, at those of IPv4. */
async function bind() {
  const six = Object.values(networkInterfaces()).some((list) => list?.some(({ family }) => family === "IPv6"));
  const host = six ? "::" : "0.0.0.0";
  for (;;) {
    const server = createServer();
    server.listen({ port: 0, host, ipv6Only: false });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const udp = createSocket({ type: six ? "udp6" : "udp4", ipv6Only: false });
    const bound = await new Promise<boolean>((resolve) => {
      udp.once("error", () => resolve(false));
      udp.bind(port, host, () => resolve(true));
    });
    if (bound) return { server, udp, port };
    server.close();
  }
}

/** Connects, and returns the source port. */
function arrive(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host, port }, () => {
      resolve(socket.localPort ?? 0);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
