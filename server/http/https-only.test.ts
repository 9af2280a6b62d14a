import { expect, mock, test } from "bun:test";
import { hostname, networkInterfaces } from "node:os";
import { selfSigned } from "../lib/certificate.ts";
import { parseCidr } from "../lib/ip-address.ts";
import {
  checkTransport,
  clientAddress,
  createTransportGate,
  type GateOptions,
  isLocalClient,
  type Transport,
  type TransportRules,
} from "./https-only.ts";
import { createOwnNames } from "./own-names.ts";

const strict: TransportRules = { tls: false, trustProxy: [], insecureHttp: false };
const encrypted: TransportRules = { ...strict, tls: true };
const local: TransportRules = { ...strict, insecureHttp: true };
const reencrypted: TransportRules = { ...strict, tls: true, trustProxy: [parseCidr("10.0.0.0/8")!] };
const proxied: TransportRules = { ...strict, trustProxy: [parseCidr("10.0.0.0/8")!] };
const request = (transport: Partial<Transport>): Transport => ({
  peer: "203.0.113.9",
  host: "api.example.com",
  forwardedProto: null,
  forwardedFor: null,
  ...transport,
});

test.each<[string, Partial<Transport>, TransportRules, string]>([
  ["own TLS", {}, encrypted, "allowed"],
  ["plain HTTP", {}, strict, "insecure"],
  ["plain HTTP on loopback", { peer: "127.0.0.1" }, strict, "insecure"],
  ["plain HTTP on loopback, asked for", { peer: "127.0.0.1" }, local, "allowed"],
  ["the same over IPv6", { peer: "::1" }, local, "allowed"],
  ["the same, mapped", { peer: "::ffff:127.0.0.1" }, local, "allowed"],
  ["plain HTTP from elsewhere, asked for on loopback", {}, local, "insecure"],
  ["a stranger's claim", { forwardedProto: "https" }, proxied, "insecure"],
  ["a claim where no proxy is trusted", { peer: "10.1.2.3", forwardedProto: "https" }, strict, "insecure"],
  ["the proxy's word", { peer: "10.1.2.3", forwardedProto: "https" }, proxied, "allowed"],
  ["the proxy's word after the client's", { peer: "10.1.2.3", forwardedProto: "https, http" }, proxied, "insecure"],
  [
    "the proxy's better word after the client's",
    { peer: "10.1.2.3", forwardedProto: "http, HTTPS" },
    proxied,
    "allowed",
  ],
  ["a proxy without a word", { peer: "10.1.2.3" }, proxied, "insecure"],
  ["a proxy that speaks TLS with us", { peer: "10.1.2.3" }, reencrypted, "allowed"],
  ["what it took in plain HTTP", { peer: "10.1.2.3", forwardedProto: "http" }, reencrypted, "insecure"],
  ["a claim of a client that needs no proxy", { forwardedProto: "http" }, reencrypted, "allowed"],
  ["a word that is none", { peer: "10.1.2.3", forwardedProto: "https;x" }, proxied, "insecure"],
  ["an empty last word", { peer: "10.1.2.3", forwardedProto: "https," }, proxied, "insecure"],
  ["an unknown peer", { peer: null, forwardedProto: "https" }, proxied, "insecure"],
  ["no host", { host: null }, encrypted, "bad_host"],
])("%s", (_, transport, rules, checked) => {
  expect(checkTransport(request(transport), rules)).toBe(checked as "allowed");
});

test.each<[string, string, string | null, TransportRules, string]>([
  ["the peer, when no proxy is trusted", "203.0.113.9", "198.51.100.1", strict, "203.0.113.9"],
  ["the peer, when it is no proxy of ours", "203.0.113.9", "198.51.100.1", proxied, "203.0.113.9"],
  ["whom the proxy names", "10.0.0.1", "198.51.100.1", proxied, "198.51.100.1"],
  ["the last stranger, not what they claim", "10.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.2", proxied, "198.51.100.1"],
  ["the proxy, when it names nobody readable", "10.0.0.1", "unknown", proxied, "10.0.0.1"],
  ["an IPv4 client with a port", "10.0.0.1", "198.51.100.1:4711", proxied, "198.51.100.1"],
  ["the proxy, when a port is none", "10.0.0.1", "198.51.100.1:port", proxied, "10.0.0.1"],
  ["the proxy, when the list ends in nothing", "10.0.0.1", "198.51.100.1,", proxied, "10.0.0.1"],
  ["the first proxy, when all are ours", "10.0.0.1", "10.0.0.3, 10.0.0.2", proxied, "10.0.0.3"],
  ["the same in an IPv4-mapped form", "::ffff:10.0.0.1", "198.51.100.1", proxied, "198.51.100.1"],
  ["an IPv6 client", "10.0.0.1", "[2001:db8::1]:443", proxied, "2001:db8::1"],
])("the client is %s", (_, peer, forwardedFor, rules, client) => {
  expect(clientAddress(request({ peer, forwardedFor }), rules)).toBe(client);
});

const hosts = ["a", "hq", "my_service:8080", "example.com.", "10.0.0.1:8443", "[::1]", "[2001:db8::1]:8443"];
test.each(hosts)("the host %s is valid", (host) => {
  expect(checkTransport(request({ host }), encrypted)).toBe("allowed");
});

const noHosts = ["", "a.example, b.example", "a b%%", "a%20b", "x#y", "u@x.com", "a/b", "[::zz", "[::zz]", "::1"];
const noPorts = ["a:", "a:b", "a:123456", "a:1:2", ":80"];
const unprintable = ["a\tb", "a\0", "a\n", "ä", "x".repeat(300)];
test.each([...noHosts, ...noPorts, ...unprintable])("the host %j is invalid, with TLS and without", (host) => {
  expect(checkTransport(request({ host }), encrypted)).toBe("bad_host");
  expect(checkTransport(request({ host }), strict)).toBe("bad_host");
});

function gateWith(rules: TransportRules, more: Partial<GateOptions> = {}) {
  const exposed: string[] = [];
  const onExposed = (header: string) => exposed.push(header);
  return { exposed, ...createTransportGate({ rules, peerOf: () => "127.0.0.1", onExposed, ...more }) };
}

const headers = { host: "localhost", authorization: "Bearer sk_test_x" };

test("a key sent over plain HTTP is reported, and the request is refused", () => {
  const { admit, exposed } = gateWith(strict);
  expect(() => admit(new Request("https://localhost/v1/agents", { headers }))).toThrow("https");
  expect(exposed).toEqual(["Bearer sk_test_x"]);
});

const ownAddress = "127.0.0.1";
test.each<[string, string, Record<string, string>, string, boolean]>([
  ["this machine", ownAddress, {}, ownAddress, true],
  ["another one", "203.0.113.9", {}, "203.0.113.9", false],
  ["this machine, by a proxy that is not trusted and on it", ownAddress, { via: "1.1 proxy" }, ownAddress, false],
  ["a client that claims to be this machine", "203.0.113.9", { "x-forwarded-for": "127.0.0.1" }, "203.0.113.9", false],
  ["whom a trusted proxy names", "10.0.0.1", { "x-forwarded-for": "198.51.100.1" }, "198.51.100.1", false],
  ["this machine, as a trusted proxy names it", "10.0.0.1", { "x-forwarded-for": "127.0.0.1" }, ownAddress, true],
])("a key in clear text came from %s", (_, peer, more, ip, local) => {
  const sent: unknown[] = [];
  const onExposed = (authorization: string, sender: object) => void sent.push([authorization, sender]);
  const { admit } = gateWith(proxied, { peerOf: () => peer, onExposed });
  expect(() => admit(new Request("http://localhost/v1/agents", { headers: { ...headers, ...more } }))).toThrow("https");
  expect(sent).toEqual([["Bearer sk_test_x", { ip, local }]]);
});

test.each([
  ["with TLS", encrypted],
  ["in plain HTTP on loopback", local],
  ["for a proxy on this machine", { ...strict, trustProxy: [parseCidr("127.0.0.0/8")!] }],
])("beside a listener %s, what comes to the plain port is refused, whatever it claims", (_, rules) => {
  const { admit, exposed, shouldSendHsts } = gateWith(rules, { isPlain: () => true, isVouchedFor: () => true });
  const request = new Request("https://api.example.com/v1/me", {
    headers: { ...headers, host: "api.example.com", "x-forwarded-proto": "https" },
  });
  expect(() => admit(request)).toThrow("https");
  expect(exposed).toEqual(["Bearer sk_test_x"]);
  expect(shouldSendHsts(request)).toBe(false);
});

const behindNeighbour: TransportRules = { ...strict, trustProxy: [parseCidr("127.0.0.0/8")!] };

test.each<[string, string, Record<string, string>, boolean]>([
  ["/readyz", "127.0.0.1", {}, true],
  ["/healthz", "::1", {}, true],
  ["/metrics", "127.0.0.1", {}, true],
  ["/metrics", "203.0.113.9", {}, false],
  ["/metrics", "127.0.0.1", { "x-forwarded-for": "198.51.100.1" }, false],
  ["/metrics", "127.0.0.1", { "x-forwarded-proto": "http" }, false],
  ["/metrics", "127.0.0.1", { via: "1.1 proxy" }, false],
  ["/metrics", "127.0.0.1", { authorization: "Bearer of the operator" }, false],
  ["/v1/me", "127.0.0.1", {}, false],
  ["/readyz/../v1/me", "127.0.0.1", {}, false],
])(
  "if a proxy terminates TLS, only this machine may request %s over plain HTTP: from %s with %j",
  (path, peer, more, taken) => {
    const request = new Request(`http://localhost${path}`, { headers: { host: "localhost", ...more } });
    for (const rules of [proxied, behindNeighbour]) {
      const admitting = () => gateWith(rules, { peerOf: () => peer }).admit(request);
      if (taken) expect(admitting).not.toThrow();
      else expect(admitting).toThrow("https");
      expect(() => gateWith(rules, { peerOf: () => peer, isPlain: () => true }).admit(request)).toThrow("https");
    }
  },
);

const { cert: shown } = await selfSigned(["shop.example", "*.runs.example"]);
const isOwnName = createOwnNames({ names: ["api.example"], certificate: () => shown });
const mesh: TransportRules = { ...strict, trustProxy: [parseCidr("127.0.0.0/8")!] };

test.each<[string, TransportRules, string, string, Record<string, string>, boolean]>([
  ...[
    "localhost:8443",
    "a.localhost",
    "127.0.0.1:8443",
    "[::1]:8443",
    "10.42.0.7:8443",
    "api.example",
    "API.example.",
  ].map(
    (host) =>
      [`by ${host}`, local, "127.0.0.1", host, {}, true] as [
        string,
        TransportRules,
        string,
        string,
        Record<string, string>,
        boolean,
      ],
  ),
  ["by the machine's own name", local, "127.0.0.1", hostname(), {}, true],
  ["by a name of its certificate", encrypted, "127.0.0.1", "shop.example", {}, true],
  ["by a name that its certificate covers", encrypted, "127.0.0.1", "a.runs.example", {}, true],
  ["of a pod, by its address", encrypted, "10.42.0.1", "10.42.0.7:8443", {}, true],
  ["from another machine, by a name that only its network knows", encrypted, "10.42.0.1", "runnel:8443", {}, true],
  [
    "by a proxy here, which was asked by a public name",
    mesh,
    "127.0.0.1",
    "x.example",
    { "x-forwarded-proto": "https" },
    true,
  ],
  ["by a page's name", local, "127.0.0.1", "evil.example", {}, false],
  ["by a page's name, over IPv6", local, "::1", "evil.example:8443", {}, false],
  ["by a page's name, over TLS", encrypted, "127.0.0.1", "evil.example", {}, false],
  ["by a page's name, where a proxy ends TLS", mesh, "127.0.0.1", "evil.example", {}, false],
  [
    "by a page's name, that a page says was forwarded",
    local,
    "127.0.0.1",
    "evil.example",
    { "x-forwarded-proto": "https" },
    false,
  ],
  [
    "by a page's name, with a token that it made up",
    local,
    "127.0.0.1",
    "evil.example",
    { authorization: "Bearer x" },
    false,
  ],
  ["by a name that looks like one of this machine", local, "127.0.0.1", "localhost.evil.example", {}, false],
  ["by a name that looks like an address", local, "127.0.0.1", "127.0.0.1.evil.example", {}, false],
])("this machine's health and metrics are asked %s", (_, rules, peer, host, more, taken) => {
  const gate = gateWith(rules, { peerOf: () => peer, isOwnName });
  const asking = (path: string) => new Request(`http://${host}${path}`, { headers: { host, ...more } });
  for (const path of ["/healthz", "/readyz", "/readyz/", "/readyz?x=1"]) {
    const admitting = () => gate.admit(asking(path));
    if (taken) expect(admitting).not.toThrow();
    else expect(admitting).toThrow("a name of the machine");
  }
  expect(gate.isRebound(asking("/metrics"))).toBe(!taken);
});

test.each([null, "evil.example", "localhost.evil.example", "", ".localhost", "1.2.3.4.evil.example"])(
  "%j does not name a machine without a certificate",
  (host) => {
    expect(createOwnNames({ names: [], certificate: () => null })(host)).toBe(false);
  },
);

test("a client is on this machine if it connects from one of its addresses", () => {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  expect(own.filter((address) => !isLocalClient(address))).toEqual([]);
  expect([isLocalClient("203.0.113.9"), isLocalClient("::ffff:203.0.113.9"), isLocalClient(null)]).toEqual([
    false,
    false,
    false,
  ]);
});

// The system call costs a tenth of a read.
test.each([
  ["plain HTTP", local],
  ["TLS of our own", encrypted],
  ["TLS behind a proxy", { ...encrypted, trustProxy: [parseCidr("127.0.0.0/8")!] }],
])("with %s the system is asked once for a request's peer, however many want to know", (_, rules) => {
  const peerOf = mock(() => "127.0.0.1");
  const gate = gateWith(rules, { peerOf });
  for (const request of [1, 2].map(() => new Request("https://localhost/v1/me", { headers }))) {
    gate.admit(request);
    expect([gate.clientOf(request), gate.clientOf(request)]).toEqual(["127.0.0.1", "127.0.0.1"]);
  }
  expect(peerOf).toHaveBeenCalledTimes(2);
});

const insistCases: [string, boolean, TransportRules, string, boolean][] = [
  ["for a name, with a certificate that somebody vouches for", true, encrypted, "api.example.com:8443", true],
  ["with a self-signed one", false, encrypted, "api.example.com", false],
  ["for an address", true, encrypted, "203.0.113.9", false],
  ["for an IPv6 address", true, encrypted, "[2001:db8::1]:8443", false],
  ["for localhost", true, encrypted, "localhost:8443", false],
  ["for a name below localhost", true, encrypted, "app.localhost", false],
  ["for a name without a dot", true, encrypted, "box", false],
  ["without TLS", true, local, "api.example.com", false],
  ["where browsers see a proxy's certificate", true, reencrypted, "api.example.com", false],
];
test.each(insistCases)("HSTS is sent as the case requires: %s", (_, vouched, rules, host, told) => {
  const { shouldSendHsts } = gateWith(rules, { isVouchedFor: () => vouched });
  expect(shouldSendHsts(new Request("https://localhost/", { headers: { host } }))).toBe(told);
});

test("with TLS of our own and no proxy, the peer is never looked up", () => {
  const peerOf = mock(() => "127.0.0.1");
  const { admit } = gateWith(encrypted, { peerOf });
  admit(new Request("https://localhost/v1/me", { headers }));
  expect(peerOf).not.toHaveBeenCalled();
});

test("a request to a TLS listener counts as encrypted, whatever its URL says", () => {
  const { admit, exposed } = gateWith(encrypted);
  admit(new Request("http://localhost/v1/agents", { headers }));
  expect(exposed).toEqual([]);
});

test.each([
  ["a b%%", "/v1/me"],
  ["[::zz]", "http://[::zz]/v1/me"],
  ["1.2.3.999", "http://1.2.3.999/v1/me"],
  ["a:99999", "http://a:99999/v1/me"],
])("the host %s is refused before the key is looked at", (host, url) => {
  for (const rules of [strict, encrypted]) {
    const { admit, exposed } = gateWith(rules);
    // A socket yields such URLs; the constructor would not.
    const request = new Request("http://localhost/", { headers: { ...headers, host } });
    Object.defineProperty(request, "url", { value: url });
    expect(() => admit(request)).toThrow("exactly one Host");
    expect(exposed).toEqual([]);
  }
});
