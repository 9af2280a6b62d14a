import { expect, test } from "bun:test";
import { parseCidr } from "../lib/ip-address.ts";
import {
  clientAddress,
  createTransportGate,
  judgeTransport,
  type Transport,
  type TransportRules,
} from "./https-only.ts";

const strict: TransportRules = { trustProxy: [], insecureHttp: false };
const local: TransportRules = { trustProxy: [], insecureHttp: true };
const proxied: TransportRules = { trustProxy: [parseCidr("10.0.0.0/8")!], insecureHttp: false };
const request = (transport: Partial<Transport>): Transport => ({
  tls: false,
  peer: "203.0.113.9",
  host: "api.example.com",
  forwardedProto: null,
  forwardedFor: null,
  ...transport,
});

test.each<[string, Partial<Transport>, TransportRules, string]>([
  ["own TLS", { tls: true }, strict, "allowed"],
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
  ["two hosts", { tls: true, host: "a.example, b.example" }, strict, "bad_host"],
  ["no host", { tls: true, host: null }, strict, "bad_host"],
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

test("a key that comes in clear text is reported, and the request is refused", () => {
  const exposed: string[] = [];
  const gate = createTransportGate({
    rules: strict,
    peerOf: () => "127.0.0.1",
    onExposed: (header) => exposed.push(header),
  });
  const headers = { host: "localhost", authorization: "Bearer sk_test_x" };
  expect(() => gate.admit(new Request("http://localhost/v1/agents", { headers }))).toThrow("https");
  expect(exposed).toEqual(["Bearer sk_test_x"]);
  gate.admit(new Request("https://localhost/v1/agents", { headers }));
  expect(exposed).toHaveLength(1);
});
