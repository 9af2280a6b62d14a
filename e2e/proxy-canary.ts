import { createServer } from "node:net";

/**
 * The proxy in the environment of every server and command that a test starts. They ignore it unless the operator names
 * a proxy, so it must never receive a connection, in any test.
 */
export const proxyCanary = await open();

async function open() {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.on("error", () => {});
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as { port: number };
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  return {
    environment: Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${port}`])),
    expectSilence(): void {
      if (visits > 0) throw new Error(`${visits} requests of a server went to the proxy of its environment.`);
    },
  };
}
