import { createServer } from "node:net";

/**
 * The proxy in the environment of every server that a test starts. Servers reach hosts by themselves: a proxy would look
 * names up again that were judged before. So nobody may ever come here, whatever the test is about.
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
