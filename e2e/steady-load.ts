import { connect, type TLSSocket } from "node:tls";
import type { Json, Runnel } from "./harness.ts";

interface LoadOptions {
  agent_id: string;
  /** Number of clients on kept connections that send a request as soon as the last has its response. */
  keeping: number;
  /** Number of clients that use a new connection for each request. */
  connecting: number;
  /** Number of clients on kept connections that rarely send a request. */
  seldom: number;
}

const pause_ms = 400;

/**
 * Starts clients that create runs without end and without retries: no library between them and the socket, which would
 * hide a lost request.
 */
export function startLoad(server: Runnel, { agent_id, keeping, connecting, seldom }: LoadOptions) {
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify({ agent_id, input: "Go" });
  const head = ["POST /v1/runs HTTP/1.1", `Host: ${hostname}:${port}`, `Authorization: Bearer ${server.keys.test}`];
  const length = `Content-Length: ${body.length}`;
  const request = [...head, "Content-Type: application/json", length, "", body].join("\r\n");
  const runs: string[] = [];
  const failures: string[] = [];
  const waits_ms: number[] = [];
  let [last_ms, gap_ms, stopped] = [performance.now(), 0, false];

  async function ask(socket: TLSSocket): Promise<{ keep: boolean }> {
    const sent_ms = performance.now();
    const answer = await exchange(socket, request);
    const now_ms = performance.now();
    waits_ms.push(now_ms - sent_ms);
    gap_ms = Math.max(gap_ms, now_ms - last_ms);
    last_ms = now_ms;
    if (answer.status === 201) runs.push(answer.body.id);
    else failures.push(`${answer.status} ${JSON.stringify(answer.body)}`);
    return { keep: answer.keep };
  }

  async function client({ kept, between_ms }: { kept: boolean; between_ms: number }): Promise<void> {
    let socket: TLSSocket | null = null;
    while (!stopped) {
      try {
        socket ??= await open(hostname, Number(port), server.ca!);
        const { keep } = await ask(socket);
        if (!keep || !kept) {
          socket.destroy();
          socket = null;
        }
      } catch (error) {
        failures.push(String(error));
        socket?.destroy();
        socket = null;
      }
      if (between_ms > 0) await Bun.sleep(between_ms);
    }
    socket?.destroy();
  }

  const of = (count: number, kind: { kept: boolean; between_ms: number }) =>
    Array.from({ length: count }, () => client(kind));
  const clients = [
    ...of(keeping, { kept: true, between_ms: 0 }),
    ...of(connecting, { kept: false, between_ms: 0 }),
    ...of(seldom, { kept: true, between_ms: pause_ms }),
  ];
  return {
    /** Ids of the acknowledged runs. */
    runs,
    failures,
    waits_ms,
    /** Returns the longest time without a response since the last call. */
    takeGap(): number {
      const longest = Math.max(gap_ms, performance.now() - last_ms);
      gap_ms = 0;
      return longest;
    },
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

function open(host: string, port: number, ca: string): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host, port, ca }, () => resolve(socket));
  socket.once("error", reject);
  return promise;
}

interface Exchanged {
  status: number;
  body: Json;
  /** True if the connection takes another request. */
  keep: boolean;
}

function exchange(socket: TLSSocket, request: string): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  let received = "";
  const take = (data: Buffer) => {
    received += data.toString();
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = received.slice(0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) return finish(() => reject(new Error(`No length: ${head}`)));
    const body = received.slice(end + 4);
    if (Buffer.byteLength(body) < length) return;
    const keep = !/\r\nconnection: close/i.test(head);
    finish(() => resolve({ status: Number(head.slice(9, 12)), body: JSON.parse(body), keep }));
  };
  const cut = () => finish(() => reject(new Error(`The connection was cut after ${received.length} bytes.`)));
  const fail = (error: Error) => finish(() => reject(error));
  const finish = (settle: () => void) => {
    socket.off("data", take).off("close", cut).off("error", fail);
    settle();
  };
  socket.on("data", take).on("close", cut).on("error", fail);
  socket.write(request);
  return promise;
}
