import { createServer } from "node:net";

const given = new Set<number>();

/**
 * Returns a free port, for a server whose address must be known before it starts, or that restarts at the same one. The
 * port lies below the ephemeral range, so that no connection and no other listener takes it meanwhile.
 */
export function freePort(): number {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000);
    const server = createServer()
      .on("error", () => {}) // The port is taken: `address()` then returns null.
      .listen(port);
    const isFree = server.address() !== null && !given.has(port);
    server.close();
    if (!isFree) continue;
    given.add(port);
    return port;
  }
}
