import { connect, createServer, type Socket } from "node:net";

/**
 * Starts a proxy on loopback that records its requests and forwards them. `places`: the local port behind a host and
 * port. Other hosts are refused.
 */
export async function startRecordingProxy(places: Record<string, number> = {}) {
  let asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => {});
    client.once("data", (data) => {
      client.pause(); // Later data waits for the upstream connection.
      const first = Buffer.from(data);
      const end = first.indexOf("\r\n\r\n");
      const head = first.subarray(0, end).toString("latin1");
      const [method = "", target = ""] = head.split("\r\n")[0]!.split(" ");
      const isTunnel = method === "CONNECT";
      const url = new URL(isTunnel ? `https://${target}` : target);
      const host = `${url.hostname}:${url.port || (isTunnel ? 443 : 80)}`;
      asked.push(isTunnel ? `CONNECT ${host}` : `${method} http://${host}${url.pathname}`);
      const port = places[host];
      if (port === undefined) {
        client.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
      }
      const there = connect(port, "127.0.0.1", () => {
        if (isTunnel) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        else {
          // One request per connection, like an origin server.
          const lines = head.split("\r\n").slice(1);
          const kept = lines.filter((line) => !/^(proxy-|connection:)/i.test(line));
          const sent = [`${method} ${url.pathname}${url.search} HTTP/1.1`, ...kept, "Connection: close"].join("\r\n");
          there.write(`${sent}\r\n\r\n`, "latin1");
          there.write(first.subarray(end + 4));
        }
        client.pipe(there);
        there.pipe(client);
      });
      there.on("error", () => client.destroy());
      client.on("close", () => there.destroy());
    });
    client.on("close", () => sockets.delete(client));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    /** Returns the requests since the last call. */
    take(): string[] {
      const all = asked;
      asked = [];
      return all;
    },
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
