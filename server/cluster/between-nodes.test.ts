import { expect, test } from "bun:test";
import { createCertificateAuthority } from "../testing/certificate-authority.ts";
import { createNodeSeal, originOf, passedHeader, passOn } from "./between-nodes.ts";
import { addressesIn, withoutPassword } from "./hosts.ts";

const seal = createNodeSeal(new Uint8Array(32).fill(1));
const origin = { peer: "203.0.113.7", plain: false };

test("a node believes what a node of the same master key says of this request, and nobody else", () => {
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

test("a request is passed on over TLS with its body, and the answer comes back as it is, in both directions as streams", async () => {
  const authority = createCertificateAuthority();
  const { cert, key } = authority.issue({ names: ["api.example.com"] });
  await using leader = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", tls: { cert, key } },
    async fetch(request) {
      const said = { origin: originOf(request, seal), host: request.headers.get("host"), url: request.url };
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
    ...{ method: "POST", body: pieces, redirect: "manual" },
    headers: { host: "api.example.com", [passedHeader]: "forged" },
  });
  const address = `https://127.0.0.1:${leader.port}`;
  const answer = await passOn(asked, { address, certificate: `${cert}\n${authority.ca}`, seal, origin });
  expect(answer.status).toBe(418);
  expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await answer.arrayBuffer())))).toEqual({
    ...{ origin, host: "api.example.com", body: "one two" },
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
])("%s names its hosts in their order", (url, addresses) => {
  expect(addressesIn(url)).toEqual(addresses);
});

test.each(["", "nonsense", "mysql://h/d", "postgres://h", "postgres:///d", "postgres://h:99999/d"])(
  "%p is refused in one line",
  (url) => {
    expect(() => addressesIn(url)).toThrow(/^--cluster (takes|names) [^\n]+$/);
  },
);

test("no password stands in what may be told", () => {
  expect(withoutPassword("postgres://a:b%40c@h:1/d")).toBe("postgres://a@h:1/d");
});
