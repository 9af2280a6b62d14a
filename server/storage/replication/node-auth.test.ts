import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { selfSigned } from "../../lib/certificate.ts";
import { isBodyReceived } from "../../lib/request-body-state.ts";
import { createCertificateAuthority } from "../../testing/certificate-authority.ts";
import { createLeaderOnly } from "./leader-only.ts";
import { createNodeSeal, nodeName, nodeTls, passedHeader, passOn } from "./node-auth.ts";
import { parseHosts, withoutPassword } from "./parse-hosts.ts";

const seal = createNodeSeal(new Uint8Array(32).fill(1));
const origin = { peer: "203.0.113.7", plain: false };

test("a node accepts only a signature for this request by a node with the same master key", () => {
  const value = seal.sign(origin, "POST", "/v1/runs?a=1");
  expect(seal.verify(value, "POST", "/v1/runs?a=1")).toEqual(origin);
  expect(seal.verify(value, "GET", "/v1/runs?a=1")).toBeNull();
  expect(seal.verify(value, "POST", "/v1/runs")).toBeNull();
  expect(seal.verify(`x${value}`, "POST", "/v1/runs?a=1")).toBeNull();
  expect(seal.verify("", "POST", "/v1/runs?a=1")).toBeNull();
  expect(createNodeSeal(new Uint8Array(32).fill(2)).verify(value, "POST", "/v1/runs?a=1")).toBeNull();
  expect(
    createNodeSeal(new Uint8Array(32).fill(1), () => Date.now() + 61_000).verify(value, "POST", "/v1/runs?a=1"),
  ).toBeNull();
});

const person = { id: "usr_1", email: "ada@example.com", role: "owner" } as const;

test("a signed-in person's change is accepted once, and their reads for a minute", () => {
  let at = 0;
  const node = createNodeSeal(new Uint8Array(32).fill(1), () => at);
  const [change, read] = ["PATCH", "GET"].map((method) => node.sign({ ...origin, person }, method, "/console/api/x"));
  const believed = () => [node.verify(change!, "PATCH", "/console/api/x"), node.verify(read!, "GET", "/console/api/x")];
  expect(believed()).toEqual([
    { ...origin, person },
    { ...origin, person },
  ]);
  expect(believed()).toEqual([null, { ...origin, person }]);
  expect(node.verify(read!, "GET", "/console/api/y")).toBeNull();
  const order = node.sign(origin, "POST", "/.runnel/command#hash");
  const ordered = (value = order) => node.verifyOnce(value, "POST", "/.runnel/command#hash");
  expect([ordered(), ordered(), ordered(`${order}=`)]).toEqual([origin, null, null]); // A command is run once too.
  at = 60_000;
  expect(believed()).toEqual([null, null]);
  const later = node.sign({ ...origin, person }, "PATCH", "/console/api/x"); // Expired nonces are forgotten.
  expect(node.verify(later, "PATCH", "/console/api/x")).not.toBeNull();
});

/** Starts a node that forwards to one that reports what it received, and a client that sends raw bytes. */
function stage(answer: (request: Request) => Response | Promise<Response>) {
  const stack = new AsyncDisposableStack();
  const listen = (fetch: (request: Request) => Response | Promise<Response>) =>
    stack.use(Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 8, development: false, fetch }));
  const leader = listen(answer);
  const address = `http://127.0.0.1:${leader.port}`;
  const spare = listen((request) => passOn(request, { address, seal, origin }));
  return {
    /** Sends a request directly and through the forwarding node, and returns everything until the connection ends. */
    async both(text: string): Promise<{ direct: string; passed: string }> {
      const [direct, passed] = await Promise.all([sent(leader.port!, text), sent(spare.port!, text)]);
      return { direct: direct!, passed: passed! };
    },
    /** Sends a request, and `more` after its answer. */
    send: (text: string, more?: string) => sent(spare.port!, text, more),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

function sent(port: number, text: string, more?: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  const socket = connect({ host: "127.0.0.1", port }, () => socket.write(text, "latin1"));
  socket.once("data", () => more && socket.write(more));
  socket.on("data", (data) => (received += data.toString("latin1")));
  socket.on("error", () => {});
  socket.on("close", () => resolve(received));
  return promise;
}

const statusOf = (answer: string): number => Number(answer.slice(9, 12));

describe("a request that is forwarded", () => {
  const close = "Host: api.example.com\r\nConnection: close\r\n";
  test.each([
    ["plain", "GET /v1/me"],
    ["with a query", "GET /v1/me?a=%2F&b=//x#y"],
    ["with a fragment", "GET /v1/me#x"],
    ["of several slashes", "GET //v1/me"],
    ["of many slashes", "GET ////v1//me"],
    ["that goes up and down", "GET /v1/../v1/%2e%2e/v1/./me"],
    ["with a backslash", "GET /v1\\me"],
    ["of characters that are no part of one", 'GET /a"<>^`{|}?"<>^`{|}'],
    ["of bytes that are no text", "GET /caf\xe9?\xff"],
    ["with the whole address of somebody else", "GET http://evil.example/v1/me"],
    ["of CONNECT", "CONNECT evil.example:443"],
  ])("from the address %s has the client's address at the answering node", async (_, line) => {
    await using nodes = stage((request) =>
      Response.json({ origin: seal.originOf(request), at: new URL(request.url, "http://x").pathname }),
    );
    const { direct, passed } = await nodes.both(`${line} HTTP/1.1\r\n${close}\r\n`);
    const said = JSON.parse(passed.split("\r\n\r\n")[1]!);
    expect(said.origin).toEqual(origin);
    // The router ignores at one machine what it ignores here.
    const isKnown = JSON.parse(direct.split("\r\n\r\n")[1]!).at === "/v1/me" && !line.split("?")[0]!.includes("#");
    expect(said.at === "/v1/me").toBe(isKnown);
  });

  test.each(["", "Host: \r\n", "Host: a/b\r\n", "Host: a@b:9\r\n", "Host: a\r\nHost: b\r\n"])(
    "with the host %j has no other host",
    async (host) => {
      await using nodes = stage((request) => Response.json(request.headers.get("host")));
      const { direct, passed } = await nodes.both(`GET /v1/me HTTP/1.0\r\n${host}\r\n`);
      const hosts = [direct, passed].map((answer) => JSON.parse(answer.split("\r\n\r\n")[1]!) ?? "");
      expect(hosts[1]).toBe(hosts[0]);
    },
  );

  test.each([
    ["as a length", "Content-Length: 5\r\n", "12345"],
    ["as a length, twice", "Content-Length: 5\r\nContent-Length: 5\r\n", "12345"],
    ["in chunks", "Transfer-Encoding: chunked\r\n", "2\r\n12\r\n3\r\n345\r\n0\r\n\r\n"],
    ["after 100 Continue", "Expect: 100-continue\r\nContent-Length: 5\r\n", "12345"],
  ])("with a body %s has that body", async (_, headers, body) => {
    await using nodes = stage(async (request) => Response.json([await request.text(), request.headers.get("expect")]));
    const { passed } = await nodes.both(`POST /a HTTP/1.1\r\n${close}${headers}\r\n${body}`);
    expect(passed).toEndWith('["12345",null]');
  });

  test("whose body comes after its answer is over with that body: the next bytes are the next request", async () => {
    await using nodes = stage((request) => new Response(new URL(request.url).pathname, { status: 401 }));
    const length = 200_000;
    const first = `POST /a HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${length}\r\n\r\n`;
    const answers = await nodes.send(first, `${"x".repeat(length)}GET /b HTTP/1.1\r\n${close}\r\n`);
    expect(answers.match(/HTTP\/1\.1 401/g)).toHaveLength(2);
    expect(answers).toEndWith("/b");
  });

  test.each(["Content-Length: 8000000", "Transfer-Encoding: chunked"])(
    "with a long body (%s) is answered once that is sent, however early the answer and the end of the connection are",
    async (length) => {
      const answers = [async (request: Request) => void (await request.body!.getReader().read()), async () => {}];
      for (const begin of answers) {
        await using nodes = stage(async (request) => {
          await begin(request);
          return new Response("No.", { status: 413, headers: { connection: "close" } });
        });
        const part = "x".repeat(8_000_000);
        const body = length.startsWith("C") ? part : `${part.length.toString(16)}\r\n${part}\r\n0\r\n\r\n`;
        const answer = await nodes.send(`POST /a HTTP/1.1\r\n${close}${length}\r\n\r\n${body}`);
        expect(statusOf(answer)).toBe(413);
      }
    },
  );

  test("waits for a stopped node until another one leads, and no longer; its streams end too", async () => {
    let leader = { address: "", certificate: "" };
    const whileLeading = createLeaderOnly(() => leader);
    const reached = Promise.withResolvers<void>();
    await using stopped = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch(request) {
        if (request.url.endsWith("/stream"))
          return new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode("one")) }));
        reached.resolve();
        return new Promise(() => {});
      },
    });
    leader = { address: `http://127.0.0.1:${stopped.port}`, certificate: "" };
    const pass = (path: string) =>
      passOn(new Request(`http://a.example${path}`), { ...leader, seal, origin, until: whileLeading("main") });
    const reader = (await pass("/stream")).body!.getReader();
    await reader.read();
    const waiting = pass("/").catch(String);
    await reached.promise;
    leader = { address: "http://127.0.0.1:1", certificate: "" };
    expect(await waiting).toContain("Another node leads the cell.");
    expect(String(await reader.read().catch((error) => error))).toContain("Another node leads the cell.");
    await stopped.stop(true);
  });

  test("ends the connection where the answering node would", async () => {
    await using nodes = stage(() => new Response("No.", { status: 413, headers: { connection: "close" } }));
    const { direct, passed } = await nodes.both("GET /v1/me HTTP/1.1\r\nHost: api.example.com\r\n\r\n");
    expect([direct, passed].map(statusOf)).toEqual([413, 413]);
  });

  test("waits for its answer longer than the idle timeout once all of it was sent", async () => {
    const idle_s = 8; // Bun checks its timers every four seconds.
    const { promise: late, resolve: answer } = Promise.withResolvers<void>();
    const leader = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      async fetch(request) {
        await Promise.all([request.text(), late]);
        return new Response("late");
      },
    });
    const marked: boolean[] = [];
    const spare = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: idle_s,
      async fetch(request) {
        const passed = passOn(request, { address: `http://127.0.0.1:${leader.port}`, seal, origin });
        while (!isBodyReceived(request)) await Bun.sleep(5);
        marked.push(true);
        if (marked.length === 2) answer();
        return await passed;
      },
    });
    const bodies = [{ body: "small" }, { body: new Blob(["x".repeat(100_000)]).stream() }];
    const answers = await Promise.all(
      bodies.map(async (init) => (await fetch(spare.url, { method: "POST", ...init } as RequestInit)).status),
    );
    expect(answers).toEqual([200, 200]);
    await Promise.all([leader.stop(true), spare.stop(true)]);
  });
});

test("a request is forwarded over TLS with its body, and the answer is returned unchanged, both as streams", async () => {
  const authority = await createCertificateAuthority();
  const own = await selfSigned([nodeName]);
  const tls = [await authority.issue({ names: ["api.example.com"] }), { ...own, serverName: nodeName }];
  await using leader = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls,
    async fetch(request) {
      const said = { origin: seal.originOf(request), host: request.headers.get("host"), url: request.url };
      const body = await request.text();
      return new Response(Bun.gzipSync(JSON.stringify({ ...said, body })), {
        status: 418,
        headers: [
          ["content-encoding", "gzip"],
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ],
      });
    },
  });
  const pieces = new ReadableStream({
    start(controller) {
      for (const piece of ["one ", "two"]) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const asked = new Request("https://api.example.com/v1/runs?a=1", {
    method: "POST",
    body: pieces,
    redirect: "manual",
    headers: { host: "api.example.com", [passedHeader]: "forged" },
  });
  const address = `https://127.0.0.1:${leader.port}`;
  for (const stranger of [(await selfSigned([nodeName])).cert, tls[0]!.cert, authority.ca])
    await expect(passOn(asked.clone() as Request, { address, tls: nodeTls(stranger), seal, origin })).rejects.toThrow(
      "certificate",
    );
  const answer = await passOn(asked, { address, tls: nodeTls(own.cert), seal, origin });
  expect(answer.status).toBe(418);
  expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await answer.arrayBuffer())))).toEqual({
    origin,
    host: "api.example.com",
    body: "one two",
    url: "https://api.example.com/v1/runs?a=1",
  });
});

test.each([
  ["postgres://a:b@h/d", ["postgres://a:b@h/d"]],
  [
    "postgresql://h:1,i:2/d?sslmode=require",
    ["postgresql://h:1/d?sslmode=require", "postgresql://i:2/d?sslmode=require"],
  ],
  ["postgres://u@[::1]:5,h/d", ["postgres://u@[::1]:5/d", "postgres://u@h/d"]],
])("%s gives its hosts in order", (url, addresses) => {
  expect(parseHosts(url)).toEqual(addresses);
});

test.each(["", "nonsense", "mysql://h/d", "postgres://h", "postgres:///d", "postgres://h:99999/d"])(
  "%p is refused in one line",
  (url) => {
    expect(() => parseHosts(url)).toThrow(/^--cluster (takes|names) [^\n]+$/);
  },
);

test.each(["postgres://a:100%@h/d", "postgres://a%:b@h/d", "postgres://a@h/d%zz"])(
  "%p is refused with the encoding of a %",
  (url) => {
    expect(() => parseHosts(url)).toThrow("Write % in a name or password as %25.");
    expect(parseHosts(url.replace(/%(zz)?/, "%25"))).toHaveLength(1);
  },
);

test("no message contains the password", () => {
  expect(withoutPassword("postgres://a:b%40c@h:1/d")).toBe("postgres://a@h:1/d");
  expect(withoutPassword("postgres://a@h/d?password=b&sslmode=require")).toBe(
    "postgres://a@h/d?password=…&sslmode=require",
  );
});
