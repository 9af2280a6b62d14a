import { createServer } from "node:net";

const given = new Set<number>();

/**
 * A port that nobody listens on now, for a server whose address has to be known before it starts, or that comes back at
 * the same one. It is below those that systems give to connections, and to whoever asks for any port: one of these could
 * be taken meanwhile.
 */
export function freePort(): number {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000);
    const server = createServer()
      .on("error", () => {}) // Somebody has it: there is no address then.
      .listen(port);
    const isFree = server.address() !== null && !given.has(port);
    server.close();
    if (!isFree) continue;
    given.add(port);
    return port;
  }
}
