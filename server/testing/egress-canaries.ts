import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

export type Canaries = Awaited<ReturnType<typeof openCanaries>>;

/** Whoever came: over what, and from which port. */
type Visit = { protocol: "tcp" | "udp"; port: number; to: string };

/**
 * Listeners where a request that a guard let through would arrive: one port, TCP and UDP, at every address of this
 * machine at once.
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

  /** Knocks at an address by both protocols, and returns when both were heard. */
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
    /** The addresses where the canaries sit, as they stand in URLs. */
    hosts: localHosts().map((host) => (host.includes(":") ? `[${host}]` : host)),
    /** How many have come since `forget`, knocks of our own not counted once `strangers` has heard them. */
    count: () => visits.length,
    /**
     * Everybody who came and was not sent by us. It knocks at each address first: that shows that the canaries hear,
     * and that they have heard all who came before.
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

/** This machine by every address that it has, whatever its name; link-local ones need a zone and stand in no URL. */
function localHosts(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
  const usable = own.filter((address) => !address.startsWith("fe80"));
  return [...new Set(["127.0.0.1", "127.0.0.2", "0.0.0.0", ...usable])];
}

/** A port that is free for TCP and for UDP, at all addresses; without IPv6, at those of IPv4. */
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

/** Connects, and answers the port from which it did. */
function arrive(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host, port }, () => {
      resolve(socket.localPort ?? 0);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
