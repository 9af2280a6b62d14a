import { describe, expect, jest, test } from "bun:test";
import { networkInterfaces } from "node:os";
import fc from "fast-check";
import { codeOf, publicIp, startEgressServers, text } from "../testing/egress-servers.ts";
import { createEgress, EgressError, type EgressPolicy, type Resolve } from "./egress.ts";

const { ca, plain, port, canary, seen, egress, failure } = await startEgressServers();

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
