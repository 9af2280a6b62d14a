import { describe, expect, test } from "bun:test";
import { codeOf, names, publicIp, rawServer, startEgressServers, text } from "../testing/egress-servers.ts";
import { checkHeaders, type EgressError, type EgressRequest } from "./egress.ts";

const { plain, port, canary, seen, egress, failure } = await startEgressServers();

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
