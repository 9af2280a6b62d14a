import { afterAll, beforeEach, describe, expect, jest, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { createCertificateAuthority } from "../testing/certificate-authority.ts";
import { withEnoughTime } from "../testing/enough-time.ts";
import {
  checkHeaders,
  createEgress,
  EgressError,
  type EgressPolicy,
  type EgressRequest,
  type Resolve,
} from "./egress.ts";
import { removeProxyEnvironment } from "./proxy.ts";

removeProxyEnvironment();

const publicIp = "93.184.215.14";
const { ca, issue } = await createCertificateAuthority();
const { cert, key } = await issue({ names: ["good.test", "other.test", "127.0.0.1"] });

/** A request as a server received it. */
type Seen = { method: string; path: string; host: string | null; headers: Headers; body: string };
const seen: Seen[] = [];
const bomb = gzipSync(Buffer.alloc(64 << 20));

const server = serve({ key, cert });
const plain = serve();
const port = server.port;

function serve(tls?: { key: string; cert: string }) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const { method, headers } = request;
      seen.push({ method, path: pathname, host: headers.get("host"), headers, body: await request.text() });
      if (pathname === "/to")
        return new Response("moved", {
          status: Number(searchParams.get("status") ?? 302),
          headers: { location: searchParams.get("url") ?? "" },
        });
      if (pathname === "/nowhere") return new Response("moved", { status: 302 });
      if (pathname === "/big") return new Response("x".repeat(100_000));
      if (pathname === "/bomb") return new Response(bomb, { headers: { "content-encoding": "gzip" } });
      if (pathname === "/gzip") return new Response(gzipSync("zipped"), { headers: { "content-encoding": "gzip" } });
      if (pathname === "/deflate")
        return new Response(deflateSync("zipped"), { headers: { "content-encoding": "deflate" } });
      if (pathname === "/br")
        return new Response(brotliCompressSync("zipped"), { headers: { "content-encoding": "br" } });
      if (pathname === "/empty-gzip") return new Response(null, { headers: { "content-encoding": "gzip" } });
      if (pathname === "/lie") return new Response("not zipped", { headers: { "content-encoding": "gzip" } });
      return new Response("hello", { headers: { "x-answer": "42" } });
    },
  });
}

/** A raw TCP server that handles each connection by a script. */
async function rawServer(onConnection: (socket: Socket) => void, hostname = "127.0.0.1") {
  const sockets: Socket[] = [];
  const raw: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => raw.listen(0, hostname, resolve));
  const address = raw.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    raw.close();
  };
  return { port: address.port, sockets, [Symbol.dispose]: close };
}

// Listens where a leak of the guard would arrive. No test may ever connect to it.
const canary = await rawServer((socket) => socket.destroy(), "0.0.0.0");

beforeEach(() => {
  seen.length = 0;
});

afterAll(async () => {
  const visitors = canary.sockets.length;
  canary[Symbol.dispose]();
  await server.stop(true);
  await plain.stop(true);
  expect(visitors).toBe(0);
});

/** Names that the tests resolve; any other one is public and has no server. */
const names: Record<string, string[]> = {
  "good.test": ["127.0.0.1"],
  "other.test": ["127.0.0.1"],
  "wrong.test": ["127.0.0.1"],
  "internal.test": ["10.0.0.5"],
  "mixed.test": [publicIp, "10.0.0.5"],
  "mixed6.test": [publicIp, "::ffff:127.0.0.1"],
  "meta.test": ["169.254.169.254"],
  "meta6.test": ["fd00:ec2::254"],
  "garbage.test": ["0177.0.0.1"],
  "zone.test": ["fe80::1%eth0"],
  "nothing.test": [],
  "gone.localhost": [],
};
const resolve: Resolve = async (host) => names[host] ?? [publicIp];

const egress = (policy: Partial<EgressPolicy> = {}, lookup = resolve) =>
  createEgress({ allow: [`good.test:${port}`], loopback: false, ca, ...policy }, lookup);

/** The error code, or the response. */
async function codeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await work() };
  } catch (error) {
    if (!(error instanceof EgressError)) return error;
    return error.code;
  }
}
const failure = (url: string, request?: EgressRequest, policy?: Partial<EgressPolicy>, lookup?: Resolve) =>
  codeOf(() => egress(policy, lookup).fetch(url, request));
/** Null if the deadline came too early: a busy machine may need all of a short timeout. */
function timeoutAsNull(error: unknown): null {
  if (error instanceof EgressError && error.code === "timeout") return null;
  throw error;
}
const text = (body: Uint8Array) => Buffer.from(body).toString();

describe("addresses", () => {
  // Spellings of non-public addresses; the URL parser normalizes most of them.
  const forbidden = [
    ..."127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. 127.0.0.1..".split(" "),
    ..."0 0.0.0.0 [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:0:7f00:1]".split(
      " ",
    ),
    ..."[64:ff9b::7f00:1] [64:ff9b:1::a00:1] [2002:7f00:1::] [2001:0:0:0:0:0:80ff:fffe] %31%32%37.0.0.1".split(" "),
    ..."①②⑦.⓪.⓪.① 127。0。0。1 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 0xa9fea9fe".split(" "),
    ..."[::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [fd00:ec2::254] [fd20:ce::254] 168.63.129.16".split(" "),
    ..."100.64.0.1 100.100.100.200 198.18.0.1 192.0.0.192 203.0.113.7 224.0.0.1 240.0.0.1 255.255.255.255".split(" "),
    ..."[fe80::1] [fec0::1] [fc00::1] [ff02::1] [2001:db8::1] [3fff::1] [100::1] [4000::1]".split(" "),
    // Names of this machine, whatever a resolver returns for them.
    ..."localhost localhost. x.localhost a.b.LOCALHOST localdomain nas.localdomain nas.localdomain. gone.localhost".split(
      " ",
    ),
    ..."internal.test mixed.test mixed6.test meta.test meta6.test garbage.test zone.test INTERNAL.test. internal.test..".split(
      " ",
    ),
  ];

  test.each(forbidden)("https://%s is refused, at registration and at the request", async (host) => {
    const url = `https://${host}:${canary.port}/`;
    expect(await failure(url)).toBe("address_forbidden");
    expect(await codeOf(() => egress().check(url))).toBe("address_forbidden");
  });

  test.each(["localhost", "localhost.", "LOCALHOST", "127.0.0.1\\@example.com"])(
    "https://%s is refused with the system's own resolver",
    async (host) => {
      const guard = createEgress({ allow: [], loopback: false });
      expect(await codeOf(() => guard.fetch(`https://${host}:${canary.port}/`))).toBeOneOf([
        "address_forbidden",
        "url_invalid",
      ]);
      expect(await codeOf(() => guard.check(`https://${host}/`))).toBe("address_forbidden");
    },
  );

  test("a public host passes the check", async () => {
    for (const host of ["example.com", publicIp, "[2606:4700:4700::1111]", "[64:ff9b::808:808]"])
      await egress().check(`https://${host}/hook?x=1#y`);
  });

  test("a name is resolved once per request, so that a second lookup cannot lead elsewhere", async () => {
    let lookups = 0;
    const rebinding: Resolve = async () => (++lookups === 1 ? ["127.0.0.1"] : ["10.0.0.5"]);
    const guard = egress({ allow: ["good.test"] }, rebinding);
    const answer = await guard.fetch(`https://good.test:${port}/`);
    expect([answer.status, lookups]).toEqual([200, 1]);
  });

  test("a name that passed the check and later points inside is refused at the request", async () => {
    let answers = [publicIp];
    const guard = egress({ allow: [] }, async () => answers);
    await guard.check(`https://rebind.test:${canary.port}/`);
    answers = ["127.0.0.1"];
    expect(await codeOf(() => guard.fetch(`https://rebind.test:${canary.port}/`))).toBe("address_forbidden");
  });
});

describe("URLs", () => {
  test.each([
    ["", "url_invalid"],
    ["nonsense", "url_invalid"],
    ["https://", "url_invalid"],
    ["https://./", "url_invalid"],
    ["https://a.test:70000/", "url_invalid"],
    ["https://[fe80::1%25eth0]/", "url_invalid"],
    ["https://[::1", "url_invalid"],
    ["http://example.com/", "scheme_forbidden"],
    ["ftp://example.com/", "scheme_forbidden"],
    ["file:///etc/passwd", "scheme_forbidden"],
    ["data:text/plain,x", "scheme_forbidden"],
    ["javascript:alert(1)", "scheme_forbidden"],
    ["unix:/run/docker.sock", "scheme_forbidden"],
    ["ws://example.com/", "scheme_forbidden"],
    ["https://user:password@example.com/", "credentials_in_url"],
    ["https://user@example.com/", "credentials_in_url"],
    ["https://:password@example.com/", "credentials_in_url"],
    ["https://example.com:0/", "port_forbidden"],
    ["https://example.com:25/", "port_forbidden"],
    ["https://example.com:22/", "port_forbidden"],
    ["https://nothing.test/", "dns_failed"],
  ])("'%s' ends as %s", async (url, code) => {
    expect(await failure(url)).toBe(code);
    expect(await codeOf(() => egress().check(url))).toBe(code);
  });

  test("an unresolved name of this machine is a DNS failure if loopback is open or a rule names it, else forbidden", async () => {
    const url = `https://gone.localhost:${canary.port}/`;
    expect(await failure(url)).toBe("address_forbidden");
    expect(await failure(url, {}, { loopback: true })).toBe("dns_failed");
    expect(await failure(url, {}, { allow: ["*.localhost"] })).toBe("dns_failed");
    expect(await failure(url, {}, { allow: ["10.0.0.0/8"] })).toBe("address_forbidden");
  });

  test("failing and hanging lookups have different errors", async () => {
    const broken: Resolve = () => Promise.reject(new Error("SERVFAIL from 10.0.0.5"));
    expect(await failure("https://a.test/", {}, {}, broken)).toBe("dns_failed");
    const silent: Resolve = () => new Promise(() => {});
    expect(await failure("https://a.test/", { timeoutMs: 30 }, {}, silent)).toBe("timeout");
    expect(await failure("https://a.test/", { signal: AbortSignal.abort() }, {}, silent)).toBe("aborted");
  });

  test("a lookup has its own timeout, so that a check ends too", async () => {
    jest.useFakeTimers();
    try {
      const outcome = codeOf(() => egress({}, () => new Promise(() => {})).check("https://a.test/"));
      jest.advanceTimersByTime(5_000);
      expect(await outcome).toBe("dns_timeout");
    } finally {
      jest.useRealTimers();
    }
  });
});

describe("what the operator allows", () => {
  test("an allowed internal host is reached under its own name, with its certificate checked", async () => {
    const { status, body, headers, url, truncated } = await egress().fetch(`https://good.test:${port}/a%20b?c=d#e`);
    expect([status, text(body), headers.get("x-answer"), truncated]).toEqual([200, "hello", "42", false]);
    expect(url).toBe(`https://good.test:${port}/a%20b?c=d#e`);
    expect(seen).toMatchObject([{ method: "GET", path: "/a%20b", host: `good.test:${port}` }]);
  });

  test.each([
    ["good.test", true],
    [`good.test:${port}`, true],
    ["GOOD.test", true],
    ["*.test", true],
    [`*.test:${port}`, true],
    ["127.0.0.0/8", true],
    ["127.0.0.1/32", true],
    ["good.test:1", false],
    ["*.good.test", false],
    ["ood.test", false],
    ["*.est", false],
    ["other.test", false],
    ["127.0.0.2/32", false],
    ["127.0.0.1", false], // A rule for a host name; this URL uses its address.
  ])("the rule '%s' opens good.test: %p", async (rule, open) => {
    const work = () => egress({ allow: [rule] }).check(`https://good.test:${port}/`);
    expect(await codeOf(work)).toEqual(open ? { answer: undefined } : "address_forbidden");
  });

  test("a rule for an address opens URLs with that address", async () => {
    for (const rule of ["10.0.0.5", "10.0.0.5:8443", "fd12::1", "[fd12::1]:8443", "10.0.0.0/24", "fd12::/16"]) {
      const host = rule.startsWith("1") ? "10.0.0.5" : "[fd12::1]";
      await egress({ allow: [rule] }).check(`https://${host}:8443/`);
    }
  });

  test("a host rule never opens cloud metadata, but a network that contains it does", async () => {
    for (const rule of ["meta.test", "*.test", "169.254.169.254"])
      for (const host of ["meta.test", "meta6.test", "169.254.169.254", "[::ffff:a9fe:a9fe]"])
        expect(await codeOf(() => egress({ allow: [rule] }).check(`https://${host}/`))).toBe("address_forbidden");
    await egress({ allow: ["169.254.169.254/32"] }).check("https://meta.test/");
  });

  test("every unreadable rule is reported at construction", async () => {
    const rules = [
      "0.0.0.0/0",
      "::/0",
      "10.0.0.0/33",
      "https://a.test",
      "a.test:0",
      "a.test:99999",
      "*",
      "*.",
      "",
      "a b",
    ];
    const more = ["user@a.test", "a:80:90", "a.test/x", "[::1", "10.0.0.0/"];
    for (const rule of [...rules, ...more]) {
      expect([rule, await codeOf(async () => egress({ allow: ["good.test", rule] }))]).toEqual([
        rule,
        "policy_invalid",
      ]);
    }
    expect(() => egress({ allow: rules })).toThrow(/0\.0\.0\.0\/0.*a\.test:99999.*a b/);
  });

  test("plain HTTP is for allowed hosts only, and never where https is required", async () => {
    const url = `http://good.test:${plain.port}/`;
    expect((await egress({ allow: ["good.test"] }).fetch(url)).status).toBe(200);
    expect((await egress({ allow: ["127.0.0.0/8"] }).fetch(url)).status).toBe(200);
    expect(await failure(url, { httpsOnly: true }, { allow: ["good.test"] })).toBe("scheme_forbidden");
    expect(await failure("http://example.com/", {}, { allow: ["127.0.0.0/8"] })).toBe("scheme_forbidden");
    expect(await failure(url)).toBe("scheme_forbidden");
  });

  test("an allowed host may use an unusual port", async () => {
    await egress({ allow: ["internal.test:6000"] }).check("https://internal.test:6000/");
    expect(await codeOf(() => egress({ allow: ["internal.test:1"] }).check("https://internal.test:6000/"))).toBe(
      "port_forbidden",
    );
  });
});

describe("this server itself", () => {
  const allow = ["good.test", "0.0.0.0", "127.0.0.0/8", "::1/128", "192.0.2.0/24", "fd00::/8", "*.example.com"];
  const open = { allow, loopback: true };
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all!.map(({ address }) => address));
  const inUrl = (address: string) => (address.includes(":") ? `[${address}]` : address);

  test("is not reached at its listening address in any spelling, whatever the rules allow", async () => {
    const own = [{ host: "127.0.0.1", port: port! }];
    for (const host of [
      "127.0.0.1",
      "127.1",
      "0x7f000001",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "0.0.0.0",
      "good.test",
    ])
      for (const scheme of ["http", "https"])
        expect([host, await failure(`${scheme}://${host}:${port}/`, {}, { ...open, own })]).toEqual([
          host,
          "address_forbidden",
        ]);
    expect(seen).toEqual([]);
    expect((await egress({ ...open, own }).fetch(plain.url.href)).status).toBe(200);
    await egress({ ...open, own }).check(`https://127.0.0.2:${port}/`);
  });

  test.each(["0.0.0.0", "::"])("listening on %s is not reached at any address of this machine", async (host) => {
    const guard = { ...open, allow: [...allow, ...addresses], own: [{ host, port: port! }] };
    for (const address of [...addresses, "127.0.0.9", "::ffff:127.0.0.1", "0.0.0.0", "::"])
      expect([address, await failure(`https://${inUrl(address)}:${port}/`, {}, guard)]).toEqual([
        address,
        "address_forbidden",
      ]);
    await egress(guard).check(`https://${publicIp}:${port}/`);
    await egress(guard).check(`https://good.test:${plain.port}/`);
    expect(seen).toEqual([]);
  });

  test("is not reached through a redirect", async () => {
    const own = [{ host: "127.0.0.1", port: plain.port! }];
    const url = `https://good.test:${port}/to?url=${encodeURIComponent(`https://other.test:${plain.port}/`)}`;
    const rules = { ...open, allow: [...allow, "other.test"], own };
    expect(await failure(url, { maxRedirects: 3 }, rules)).toBe("address_forbidden");
    expect(seen).toMatchObject([{ path: "/to" }]);
  });

  test("is not reached by its own name, nor by a shared name that resolves to this machine", async () => {
    const own = [
      { host: "api.example.com", port: 443 },
      { host: "www.example.com", port: 443, shared: true },
    ];
    for (const [name, at, code] of [
      ["API.example.com.", publicIp, "address_forbidden"],
      ["www.example.com", "127.0.0.1", "address_forbidden"],
      ["www.example.com", publicIp, { answer: undefined }],
      ["www.example.com:8443", "127.0.0.1", { answer: undefined }],
    ] as const)
      expect([name, await codeOf(() => egress({ ...open, own }, async () => [at]).check(`https://${name}/`))]).toEqual([
        name,
        code,
      ]);
  });
});

describe("loopback", () => {
  const open = { allow: [], loopback: true };

  test("if allowed, this machine is reached by http and https", async () => {
    for (const url of [plain.url.href, `https://127.0.0.1:${port}/`, `https://good.test:${port}/`])
      expect((await egress(open).fetch(url)).status).toBe(200);
    const guard = createEgress(open);
    await guard.check(`http://localhost:${plain.port}/`);
    await guard.check("http://[::1]:8080/");
  });

  test("it allows nothing else", async () => {
    for (const host of ["10.0.0.1", "0.0.0.0", "169.254.169.254", "[::ffff:a9fe:a9fe]", "meta.test", "internal.test"])
      expect(await failure(`https://${host}/`, {}, open)).toBe("address_forbidden");
    for (const url of ["http://example.com/", `http://${publicIp}/`, `http://good.test:${plain.port}/`])
      expect(await failure(url, {}, open)).toBe("scheme_forbidden");
    expect(await failure(plain.url.href, { httpsOnly: true }, open)).toBe("scheme_forbidden");
  });

  // Otherwise any remote server could make us call services on this machine.
  test("a remote server cannot redirect to this machine", async () => {
    const target = encodeURIComponent(`https://127.0.0.1:${canary.port}/`);
    const policy = { ...open, allow: ["good.test"] };
    expect(await failure(`https://good.test:${port}/to?url=${target}`, { maxRedirects: 3 }, policy)).toBe(
      "address_forbidden",
    );
    const inside = encodeURIComponent(plain.url.href);
    const answer = await egress(open).fetch(`${plain.url.href}to?url=${inside}`, { maxRedirects: 3 });
    expect(answer.status).toBe(200);
  });
});

describe("connections", () => {
  test("a wrong or untrusted certificate ends the connection before the request is sent", async () => {
    const allow = ["wrong.test", "good.test"];
    expect(await failure(`https://wrong.test:${port}/`, {}, { allow })).toBe("connect_failed");
    expect(await failure(`https://good.test:${port}/`, {}, { allow, ca: undefined })).toBe("connect_failed");
    expect(await failure(`https://good.test:${plain.port}/`, {}, { allow })).toBe("connect_failed");
    expect(seen).toEqual([]);
  });

  test("the next address is tried if the first refuses connections", async () => {
    const guard = egress({ allow: ["good.test"] }, async () => ["127.0.0.2", "127.0.0.1"]);
    expect((await guard.fetch(`https://good.test:${port}/`)).status).toBe(200);
  });

  // The first server may have executed the request before the connection broke.
  test("a sent request is not sent again", async () => {
    using raw = await rawServer((socket) => socket.once("data", () => socket.destroy()));
    const guard = egress({ allow: ["good.test"] }, async () => ["127.0.0.1", "127.0.0.1"]);
    const request: EgressRequest = { method: "POST", body: "order" };
    expect(await codeOf(() => guard.fetch(`http://good.test:${raw.port}/`, request))).toBe("connection_lost");
    expect(raw.sockets).toHaveLength(1);
  });

  test("an error tells whether its request was sent", async () => {
    using raw = await rawServer((socket) => socket.once("data", () => socket.destroy()));
    const outcome = (url: string, request: EgressRequest = {}) =>
      egress({ allow: ["good.test", "wrong.test"] })
        .fetch(url, request)
        .then(
          () => "answered",
          ({ code, request }: EgressError) => [code, request],
        );
    expect(await outcome("https://10.0.0.1/")).toEqual(["address_forbidden", "not_sent"]);
    expect(await outcome("https://good.test:1/")).toEqual(["connect_failed", "not_sent"]);
    expect(await outcome(`https://wrong.test:${port}/`)).toEqual(["connect_failed", "not_sent"]);
    expect(await outcome(`http://good.test:${raw.port}/`)).toEqual(["connection_lost", "sent"]);
    const redirect = `https://good.test:${port}/to?url=https://10.0.0.1/`;
    expect(await outcome(redirect, { maxRedirects: 1 })).toEqual(["address_forbidden", "answered"]);
    const dead = `https://good.test:${port}/to?url=https://good.test:2/`;
    expect(await outcome(dead, { maxRedirects: 1 })).toEqual(["connect_failed", "answered"]);
  });

  test("no message reveals the addresses of a name", async () => {
    const urls = Object.keys(names).map((host) => `https://${host}/`);
    const guard = egress({ allow: ["good.test", "wrong.test"] });
    const messages = await Promise.all(
      [...urls, `https://wrong.test:${port}/`].map((url) =>
        guard.fetch(url, { timeoutMs: 200 }).then(
          () => "answered",
          (error: EgressError) => `${error.message} ${error.stack} ${error.cause}`,
        ),
      ),
    );
    for (const address of Object.values(names).flat().concat(publicIp))
      for (const message of messages) expect(message).not.toContain(address);
  });

  test("method, body and headers arrive as given", async () => {
    const headers = { authorization: "Bearer x", "content-type": "application/json", "X-Own": "1" };
    await egress().fetch(`https://good.test:${port}/`, { method: "PUT", headers, body: '{"a":1}' });
    expect(seen).toMatchObject([{ method: "PUT", body: '{"a":1}' }]);
    const got = seen[0]?.headers;
    expect([got?.get("authorization"), got?.get("x-own"), got?.get("user-agent")]).toEqual(["Bearer x", "1", "runnel"]);
    expect(got?.get("accept-encoding")).toBe("identity");
  });

  test("a line break in the path stays inside the path", async () => {
    await egress().fetch(`https://good.test:${port}/a%0d%0aX-Evil:1\r\nY: 2`);
    expect(seen[0]?.path).toBe("/a%0d%0aX-Evil:1Y:%202");
    expect(seen[0]?.headers.has("x-evil")).toBe(false);
  });

  test("a body on GET is refused and never silently dropped", async () => {
    expect(await failure(`https://good.test:${port}/`, { body: "x" })).toBe("body_forbidden");
  });
});

describe("headers", () => {
  test.each([
    [{ Host: "evil.test" }],
    [{ "Content-Length": "0" }],
    [{ "transfer-encoding": "chunked" }],
    [{ CONNECTION: "close" }],
    [{ "Keep-Alive": "1" }],
    [{ Upgrade: "h2c" }],
    [{ TE: "trailers" }],
    [{ Trailer: "x" }],
    [{ Expect: "100-continue" }],
    [{ "Proxy-Authorization": "Basic x" }],
    [{ "Accept-Encoding": "gzip" }],
    [{ "x-a": "b\r\nX-Evil: 1" }],
    [{ "x-a": "b\nX-Evil: 1" }],
    [{ "x-a": "b\rc" }],
    [{ "x-a": "b\0c" }],
    [{ "x-a": "€" }],
    [{ "x a": "b" }],
    [{ "x-a:": "b" }],
    [{ "x\r\ny": "b" }],
    [{ "": "b" }],
    [{ "X-Own": "a", "x-own": "b" }],
  ] as Record<string, string>[][])("%p is refused, at creation and at the request", async (headers = {}) => {
    expect(await codeOf(async () => checkHeaders(headers))).toBe("header_forbidden");
    expect(await failure(`https://good.test:${port}/`, { headers })).toBe("header_forbidden");
    expect(seen).toEqual([]);
  });

  test.each([
    ..."Forwarded Via X-Forwarded-For x-forwarded-proto X-Forwarded X-Forwarded-Whatever X_Forwarded_For".split(" "),
    ..."X-Real-IP Client-IP X-Client-IP True-Client-IP X-Cluster-Client-IP CF-Connecting-IP X-Original-Host".split(" "),
  ])("%s, in which a proxy names its client, is refused at creation and left out of the request", async (name) => {
    const headers = { [name]: "203.0.113.7", "x-kept": "yes" };
    expect(await codeOf(async () => checkHeaders(headers))).toBe("header_forbidden");
    await egress().fetch(`https://good.test:${port}/`, { headers });
    expect([seen[0]!.headers.get(name), seen[0]!.headers.get("x-kept")]).toEqual([null, "yes"]);
  });

  test("ordinary headers pass", () => {
    checkHeaders({ "X-Forward": "a", "X-Realm": "b", Viability: "c", "X-Client": "d" });
    checkHeaders({ Authorization: "Bearer {{secret.KEY}}", "X-Tab": "a\tb", "content-type": "text/plain", "x-e": "é" });
  });
});

describe("redirects", () => {
  const to = (url: string, status = 302, base = `https://good.test:${port}`) =>
    `${base}/to?status=${status}&url=${encodeURIComponent(url)}`;
  const follow: EgressRequest = { maxRedirects: 3 };

  test("without permission to follow, a redirect is returned", async () => {
    const { status, headers, body } = await egress().fetch(to("https://10.0.0.1/"));
    expect([status, headers.get("location"), text(body)]).toEqual([302, "https://10.0.0.1/", "moved"]);
  });

  test.each([
    ["https://169.254.169.254/latest", "address_forbidden"],
    ["https://internal.test/", "address_forbidden"],
    [`https://127.0.0.1:${canary.port}/`, "address_forbidden"],
    [`//127.0.0.1:${canary.port}/`, "address_forbidden"],
    ["http://good.test/", "redirect_downgrade"],
    [`http://127.0.0.1:${canary.port}/`, "redirect_downgrade"],
    ["file:///etc/passwd", "scheme_forbidden"],
    ["data:text/plain,x", "scheme_forbidden"],
    ["https://user:password@good.test/", "credentials_in_url"],
    ["https://good.test:1/", "connect_failed"],
    ["https://example.com:25/", "port_forbidden"],
    ["https://[", "url_invalid"],
  ])("a redirect to %s ends as %s", async (url, code) => {
    expect(await failure(to(url), follow, { allow: ["good.test"] })).toBe(code);
  });

  test("every hop of a chain is checked, not only the first redirect", async () => {
    const chain = to(to(to("https://10.0.0.1/")));
    expect(await failure(chain, follow)).toBe("address_forbidden");
    expect(seen).toHaveLength(3);
  });

  test("a chain ends at its limit, and one of exactly the limit still arrives", async () => {
    const three = to(to(to("/end")));
    const answer = await egress().fetch(three, follow);
    expect([answer.status, answer.url]).toEqual([200, `https://good.test:${port}/end`]);
    expect(await failure(three, { maxRedirects: 2 })).toBe("too_many_redirects");
    expect(await failure(to("/to?url=/to%3Furl=/to"), { maxRedirects: 1 })).toBe("too_many_redirects");
  });

  test("a redirect without location is returned", async () => {
    expect((await egress().fetch(`https://good.test:${port}/nowhere`, follow)).status).toBe(302);
  });

  test("secrets are only sent to their own origin, whatever their header is named", async () => {
    const headers = {
      authorization: "a",
      cookie: "b",
      "x-api-key": "c",
      "x-own-token": "d",
      "webhook-signature": "e",
      "content-type": "text/plain",
    };
    const request: EgressRequest = { ...follow, method: "POST", headers, body: "x" };
    const policy = { allow: ["good.test", "other.test"] };
    await egress(policy).fetch(to("/same", 307), request);
    expect(seen.at(-1)?.headers.toJSON()).toMatchObject(headers);
    const back = to(`https://good.test:${port}/back`, 307, `https://other.test:${port}`);
    await egress(policy).fetch(to(back, 307), request);
    expect(seen.slice(-2).map(({ host, path }) => [host, path])).toEqual([
      [`other.test:${port}`, "/to"],
      [`good.test:${port}`, "/back"],
    ]);
    for (const { headers: got } of seen.slice(-2)) {
      for (const name of ["authorization", "cookie", "x-api-key", "x-own-token", "webhook-signature"])
        expect([name, got.get(name)]).toEqual([name, null]);
      expect(got.get("content-type")).toBe("text/plain");
    }
  });

  test.each([
    ["POST", 301, "GET", ""],
    ["POST", 302, "GET", ""],
    ["POST", 303, "GET", ""],
    ["PUT", 303, "GET", ""],
    ["POST", 307, "POST", "x"],
    ["POST", 308, "POST", "x"],
    ["PUT", 302, "PUT", "x"],
    ["HEAD", 303, "HEAD", ""],
  ] as const)("%s answered by %d becomes %s", async (method, status, then, body) => {
    const own: EgressRequest = method === "HEAD" ? {} : { body: "x", headers: { "content-type": "text/plain" } };
    await egress().fetch(to("/end", status), { ...follow, method, ...own });
    expect(seen.at(-1)).toMatchObject({ path: "/end", method: then, body });
    expect(seen.at(-1)?.headers.get("content-type")).toBe(body === "" ? null : "text/plain");
  });
});

describe("responses", () => {
  const get = (path: string, request: EgressRequest = {}) =>
    egress().fetch(`https://good.test:${port}${path}`, request);

  test("a long body waits for room before it is read, outside the timeout, and a short one does not", async () => {
    let waits = 0;
    const beforeLong = (ms: number) => async () => {
      waits++;
      await Bun.sleep(ms + 100);
    };
    await get("/", { beforeLong: beforeLong(0) });
    expect(waits).toBe(0);
    const body = await withEnoughTime(500, async (timeoutMs) => {
      const before = waits;
      const answer = await get("/big", { beforeLong: beforeLong(timeoutMs), timeoutMs }).catch(timeoutAsNull);
      if (answer) expect(waits).toBe(before + 1);
      return answer?.body ?? null;
    });
    expect(body.length).toBe(100_000);
    const refused = get("/big", { beforeLong: () => Promise.reject(new Error("gone")) });
    await expect(refused).rejects.toThrow("gone");
  });

  test("a long body is cut at the limit and marked, and one of exactly the limit is complete", async () => {
    const cut = await get("/big", { maxBytes: 1_000 });
    expect([cut.body.length, cut.truncated]).toEqual([1_000, true]);
    const whole = await get("/big", { maxBytes: 100_000 });
    expect([whole.body.length, whole.truncated]).toEqual([100_000, false]);
  });

  test.each(["/gzip", "/deflate", "/br"])("a body that is encoded without request is decoded: %s", async (path) => {
    const { body, headers } = await get(path);
    expect(text(body)).toBe("zipped");
    expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual([null, null]);
  });

  test("a body that inflates endlessly is cut at the limit and never held in memory", async () => {
    const before = process.memoryUsage().rss;
    const { body, truncated } = await get("/bomb", { maxBytes: 10_000 });
    expect([body.length, truncated]).toEqual([10_000, true]);
    expect(process.memoryUsage().rss - before).toBeLessThan(32 << 20);
  });

  test("an empty body is empty in every encoding, and a false encoding is an error", async () => {
    expect((await get("/empty-gzip")).body).toHaveLength(0);
    expect((await get("/gzip", { method: "HEAD" })).body).toHaveLength(0);
    expect(await codeOf(() => get("/lie"))).toBe("response_invalid");
  });

  test("a server that drips its body is dropped at the deadline, and its connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    let isDripping = false;
    using raw = await rawServer((socket) => {
      socket.once("data", () => {
        isDripping = true;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        const drip = setInterval(() => socket.write("x"), 5);
        socket.on("close", () => {
          clearInterval(drip);
          closed.resolve();
        });
      });
    });
    const policy = { allow: ["good.test"] };
    await withEnoughTime(100, async (timeoutMs) => {
      expect(await failure(`http://good.test:${raw.port}/`, { timeoutMs }, policy)).toBe("timeout");
      return isDripping || null;
    });
    await closed.promise;
  });

  test("a server that never responds is dropped at the deadline", async () => {
    using raw = await rawServer(() => {});
    expect(await failure(`http://good.test:${raw.port}/`, { timeoutMs: 50 }, { allow: ["good.test"] })).toBe("timeout");
  });

  test.each([
    ["plain", "x".repeat(500), ""],
    ["encoded", gzipSync(randomBytes(500)), "content-encoding: gzip\r\n"],
  ])("the connection of a body that was cut is closed: %s", async (_, body, header) => {
    const closed = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\n${header}content-length: 100000\r\n\r\n`);
        socket.write(body);
      });
    });
    const guard = egress({ allow: ["good.test"] });
    const { truncated } = await guard.fetch(`http://good.test:${raw.port}/`, { maxBytes: 100 });
    expect(truncated).toBe(true);
    await closed.promise;
  });

  test("the connection of a refused, unread response is closed", async () => {
    const closed = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.once("data", () => socket.write("HTTP/1.1 302 Found\r\nlocation: https://[\r\ncontent-length: 9\r\n\r\n"));
    });
    const url = `http://good.test:${raw.port}/`;
    expect(await failure(url, { maxRedirects: 1 }, { allow: ["good.test"] })).toBe("url_invalid");
    await closed.promise;
  });

  test("a caller that aborts gets that error, before and during the request", async () => {
    const arrived = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => socket.once("data", () => arrived.resolve()));
    const url = `http://good.test:${raw.port}/`;
    const giveUp = new AbortController();
    const outcome = failure(url, { signal: giveUp.signal }, { allow: ["good.test"] });
    await arrived.promise;
    giveUp.abort();
    expect(await outcome).toBe("aborted");
    expect(await failure(url, { signal: AbortSignal.abort() }, { allow: ["good.test"] })).toBe("aborted");
    expect(raw.sockets).toHaveLength(1);
  });

  test("a truncated response is an error and not a short body", async () => {
    using raw = await rawServer((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc")),
    );
    expect(await failure(`http://good.test:${raw.port}/`, {}, { allow: ["good.test"] })).toBe("connection_lost");
  });
});

describe("streams", () => {
  const policy = { allow: ["good.test"] };
  const drip = (socket: Socket, start: string) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${start}`);
    const timer = setInterval(() => socket.write("x"), 5);
    socket.on("close", () => clearInterval(timer));
  };

  test("the body streams as it is written, and cancelling closes the connection", async () => {
    const closed = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.once("data", async () => {
        socket.write("HTTP/1.1 200 OK\r\nx-answer: 42\r\ncontent-length: 100000\r\n\r\nfirst");
        await goOn.promise;
        socket.write("second");
      });
    });
    const { status, headers, body } = await egress(policy).stream(`http://good.test:${raw.port}/`);
    const reader = body.getReader();
    const next = async () => text((await reader.read()).value!);
    expect([status, headers.get("x-answer"), await next()]).toEqual([200, "42", "first"]);
    goOn.resolve();
    expect(await next()).toBe("second");
    await reader.cancel();
    await closed.promise;
  });

  test("a whole body is decoded and ends", async () => {
    const { body, headers } = await egress().stream(`https://good.test:${port}/gzip`);
    expect([await new Response(body).text(), headers.get("content-encoding")]).toEqual(["zipped", null]);
  });

  test.each([
    ["too long", "/big", { maxBytes: 99_999 }, "response_too_large"],
    ["without end once it is decoded", "/bomb", { maxBytes: 1_000_000 }, "response_too_large"],
    ["not what it claims to be", "/lie", {}, "response_invalid"],
  ])("a body that is %s is an error and not a short one", async (_, path, request, code) => {
    const { body } = await egress().stream(`https://good.test:${port}${path}`, request);
    expect(await codeOf(() => new Response(body).text())).toBe(code);
  });

  test("a body of exactly the limit is complete", async () => {
    const { body } = await egress().stream(`https://good.test:${port}/big`, { maxBytes: 100_000 });
    expect(await new Response(body).text()).toHaveLength(100_000);
  });

  test.each([
    ["the deadline", "timeout", 100, () => {}],
    ["the caller's word", "aborted", 30_000, (abort: AbortController) => abort.abort()],
    ["the server", "connection_lost", 30_000, (_: AbortController, socket: Socket) => socket.destroy()],
  ])("a body that %s ends is an error, and its connection is closed", async (_, code, timeoutMs, act) => {
    const closed = Promise.withResolvers<void>();
    const sockets: Socket[] = [];
    using raw = await rawServer((socket) => {
      sockets.push(socket);
      socket.on("close", () => closed.resolve());
      socket.once("data", () => drip(socket, "start"));
    });
    const abort = new AbortController();
    const ended = await withEnoughTime(timeoutMs, async (timeoutMs) => {
      const request = { timeoutMs, signal: abort.signal };
      const begun = await egress(policy).stream(`http://good.test:${raw.port}/`, request).catch(timeoutAsNull);
      const reader = begun?.body.getReader();
      if (!reader || !(await reader.read().catch(timeoutAsNull))) return null;
      act(abort, sockets.at(-1)!);
      return codeOf(async () => {
        while (!(await reader.read()).done);
      });
    });
    expect(ended).toBe(code);
    await closed.promise;
  });

  test("is checked like any request", async () => {
    expect(await codeOf(() => egress().stream(`https://internal.test:${canary.port}/`))).toBe("address_forbidden");
    expect(await codeOf(() => egress().stream("https://good.test:1/", { headers: { host: "x" } }))).toBe(
      "header_forbidden",
    );
  });
});

test("the policy can be sent to another thread", () => {
  const policy: EgressPolicy = { allow: ["*.test", "10.0.0.0/8"], loopback: true, ca };
  expect(structuredClone(policy)).toEqual(policy);
});

describe("any URL at all", () => {
  const privateHost = fc.oneof(
    fc.constantFrom("localhost", "127.1", "0x7f.1", "[::1]", "[::ffff:7f00:1]", "internal.test", "mixed.test", "0"),
    fc.ipV6().map((ip) => `[${ip}]`),
    fc.ipV4Extended(),
    fc.domain(),
    fc.string({ maxLength: 12 }),
  );
  const anyUrl = fc.oneof(
    fc
      .tuple(fc.constantFrom("https:", "http:", "HTTPS:", "https:\\", "ftp:", ""), privateHost, fc.string())
      .map(([scheme, host, rest]) => `${scheme}//${host}:${canary.port}/${rest}`),
    fc.webUrl(),
    fc.string(),
  );
  // Every name resolves to this machine, and nothing is allowed: a leak would reach the canary.
  const guard = createEgress({ allow: [], loopback: false }, async () => ["127.0.0.1"]);

  test("ends as an EgressError and reaches nothing on this machine", async () => {
    await fc.assert(
      fc.asyncProperty(anyUrl, async (url) => {
        // Public literals would leave this machine; the check treats them the same without connecting.
        await guard.check(url).then(
          () => expect(URL.parse(url)?.hostname).toMatch(/^[[\d]/),
          async (error) => {
            expect(error).toBeInstanceOf(EgressError);
            expect(await codeOf(() => guard.fetch(url, { maxRedirects: 3, timeoutMs: 500 }))).toBe(error.code);
          },
        );
      }),
      { numRuns: 600 },
    );
    expect(canary.sockets).toHaveLength(0);
  });
});
