import { type AddressInfo, createServer } from "node:net";

/** A port that nobody listens on now, for a server that has to come back at the same address. */
export function freePort(): number {
  const server = createServer().listen(0);
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
