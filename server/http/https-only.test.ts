import { expect, test } from "bun:test";
import { parseCidr } from "../lib/ip-address.ts";
import {
  clientAddress,
  createTransportGate,
  judgeTransport,
  type Transport,
  type TransportRules,
} from "./https-only.ts";

const strict: TransportRules = { tls: false, trustProxy: [], insecureHttp: false };
const encrypted: TransportRules = { ...strict, tls: true };
const local: TransportRules = { ...strict, insecureHttp: true };
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
  ["an unknown peer", { peer: null, forwardedProto: "https" }, proxied, "insecure"],
  ["no host", { host: null }, encrypted, "bad_host"],
])("%s", (_, transport, rules, verdict) => {
  expect(judgeTransport(request(transport), rules)).toBe(verdict as "allowed");
});

test.each<[string, string, string | null, TransportRules, string]>([
  ["the peer, when no proxy is trusted", "203.0.113.9", "198.51.100.1", strict, "203.0.113.9"],
  ["the peer, when it is no proxy of ours", "203.0.113.9", "198.51.100.1", proxied, "203.0.113.9"],
  ["whom the proxy names", "10.0.0.1", "198.51.100.1", proxied, "198.51.100.1"],
  ["the last stranger, not what they claim", "10.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.2", proxied, "198.51.100.1"],
  ["the proxy, when it names nobody readable", "10.0.0.1", "unknown", proxied, "10.0.0.1"],
  ["an IPv6 client", "10.0.0.1", "[2001:db8::1]:443", proxied, "2001:db8::1"],
])("the client is %s", (_, peer, forwardedFor, rules, client) => {
  expect(clientAddress(request({ peer, forwardedFor }), rules)).toBe(client);
});

const hosts = ["a", "hq", "my_service:8080", "example.com.", "10.0.0.1:8443", "[::1]", "[2001:db8::1]:8443"];
test.each(hosts)("the host %s is one", (host) => {
  expect(judgeTransport(request({ host }), encrypted)).toBe("allowed");
});

const noHosts = ["", "a.example, b.example", "a b%%", "a%20b", "x#y", "u@x.com", "a/b", "[::zz", "[::zz]", "::1"];
const noPorts = ["a:", "a:b", "a:123456", "a:1:2", ":80"];
const unprintable = ["a\tb", "a\0", "a\n", "ä", "x".repeat(300)];
test.each([...noHosts, ...noPorts, ...unprintable])("the host %j is none, with TLS and without", (host) => {
  expect(judgeTransport(request({ host }), encrypted)).toBe("bad_host");
  expect(judgeTransport(request({ host }), strict)).toBe("bad_host");
});

function gateWith(rules: TransportRules) {
  const exposed: string[] = [];
  return {
    exposed,
    ...createTransportGate({ rules, peerOf: () => "127.0.0.1", onExposed: (header) => exposed.push(header) }),
  };
}

const headers = { host: "localhost", authorization: "Bearer sk_test_x" };

test("a key that comes in clear text is reported, and the request is refused", () => {
  const { admit, exposed } = gateWith(strict);
  expect(() => admit(new Request("https://localhost/v1/agents", { headers }))).toThrow("https");
  expect(exposed).toEqual(["Bearer sk_test_x"]);
});

test("what a listener with TLS takes is encrypted, whatever its address says", () => {
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
    // A socket gives such addresses; the constructor would not.
    const request = new Request("http://localhost/", { headers: { ...headers, host } });
    Object.defineProperty(request, "url", { value: url });
    expect(() => admit(request)).toThrow("exactly one Host");
    expect(exposed).toEqual([]);
  }
});
