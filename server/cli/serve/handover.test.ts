import { afterEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { toCertificate } from "../../lib/certificate.ts";
import { silentLog } from "../../lib/log.ts";
import { createCertificateAuthority } from "../../testing/certificate-authority.ts";
import { handOver } from "./handover.ts";
import { createListener, type Handle } from "./listener.ts";

const patience = { ending_ms: 20, underWay_ms: 20, retireEarly_ms: 20, retire_ms: 300, cutting_ms: 1000 };
const never = new Promise<never>(() => {});
const host = "127.0.0.1";

let servers: Bun.Server<undefined>[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop(true)));
  servers = [];
});

/** Creates a listener with the handler that `letIn` receives, and a successor that answers by `next`. */
function stage(next: Handle, tls?: { cert: string; key: string }) {
  const successor = Bun.serve({ hostname: host, port: 0, fetch: next, tls });
  servers.push(successor);
  let handle: Handle = () => never;
  const listener = createListener({
    host,
    port: 0,
    certificate: null,
    log: silentLog,
    handle: (request) => handle(request),
  });
  const done: string[] = [];
  return {
    listener,
    done,
    handOver: (
      stop: () => Promise<void>,
      {
        follow = async () => void done.push("followed"),
        serving_ms = 20_000,
        retire_ms = patience.retire_ms,
        told = never as Promise<unknown>,
      } = {},
    ) =>
      handOver({
        entrance: {
          ...listener,
          certificate: () => (tls ? toCertificate(tls.cert, tls.key, "") : null),
          isPlain: () => false,
          letIn: (admitted) => {
            handle = admitted;
          },
        },
        successor: {
          pid: 1,
          follow,
          wantsOut: never,
          leave: () => void done.push("left"),
          kill: () => void done.push("killed"),
        },
        address: `${tls ? "https" : "http"}://${host}:${successor.port}`,
        masterKey: new Uint8Array(32),
        log: silentLog,
        told,
        stop,
        patience: { ...patience, serving_ms, retire_ms },
        close: () => void done.push("closed"),
        onServing: () => void done.push("serving"),
      }),
  };
}

/** Sends a request. `cut` resolves with all received data when the connection is closed. */
function client(port: number, request: string) {
  const [opened, cut] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  let read = "";
  const socket = connect(port, host, () => socket.write(request, () => opened.resolve()));
  socket.on("data", (bytes) => {
    read += bytes;
  });
  socket.on("error", () => {});
  socket.on("close", () => cut.resolve(read));
  return { sent: opened.promise, cut: cut.promise };
}

const head = (method: string, more = "") => `${method} / HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const order = ["closed", "followed", "serving", "left"];

test("a replaced process releases the data and ends, even if a client never sends its whole body and work never ends", async () => {
  const { listener, done, handOver } = stage(() => new Response("Here."));
  const [half, waiting] = [
    client(listener.port, `${head("POST", "Content-Length: 9\r\n")}{`),
    client(listener.port, head("GET")),
  ];
  await Promise.all([half.sent, waiting.sent]);
  await handOver(() => never);
  expect(done).toEqual(order);
  await Promise.all([half.cut, waiting.cut]);
});

test("requests on open connections are passed on, whatever certificate the next process has", async () => {
  const { issue } = await createCertificateAuthority();
  const certified = await issue({ names: ["api.example.com"] });
  const { listener, handOver } = stage(() => new Response("Here."), certified);
  const { cut } = client(listener.port, head("GET"));
  await handOver(async () => {}, { told: cut, retire_ms: 20_000 });
  expect(await cut).toContain("Here.");
});

test("a replaced process ends even if its successor never answers a request that was passed on", async () => {
  const { listener, done, handOver } = stage(() => never);
  const over = handOver(async () => {});
  const { cut } = client(listener.port, head("GET"));
  await over;
  expect(done).toEqual(order);
  expect(await cut).toBe("");
});

test("a replaced process ends even if a client reads an endless stream of its successor", async () => {
  const endless = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("one")),
    pull: () => never,
  });
  const { listener, done, handOver } = stage(() => new Response(endless));
  const over = handOver(async () => {});
  const { cut } = client(listener.port, head("GET"));
  await over;
  expect(done).toEqual(order);
  expect(await cut).not.toContain("0\r\n\r\n");
});

test("a successor that takes the data and never serves is killed, and the handover fails", async () => {
  const { listener, done, handOver } = stage(() => never);
  await expect(handOver(async () => {}, { follow: () => never, serving_ms: 20 })).rejects.toThrow("did not serve");
  await listener.stop();
  expect(done).toEqual(["closed", "killed"]);
});

test("work that fails to stop does not keep the data from the successor", async () => {
  const { done, handOver } = stage(() => never);
  await handOver(() => Promise.reject(new Error("No.")));
  expect(done).toEqual(order);
});
