import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { parserRefusals } from "../scripts/docs/errors.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";
import { errorEnvelopeOf, type RawAnswer, rawRequest, requestHeaders } from "./raw-request.ts";

// Requests that no client sends: request smuggling, read differently by a proxy and by the server behind it.
let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
});
afterAll(() => server[Symbol.asyncDispose]());
// After each attempt: the next request is served, no bug is logged, and the process is the same.
afterEach(async () => {
  expect((await server.get("/v1/me")).status).toBe(200);
  expect(server.isAlive()).toBe(true);
  expect(server.log()).not.toContain("met a bug");
});

const agent = JSON.stringify({ name: "A", instructions: "B", model: "test/echo" });
const json = "Content-Type: application/json\r\n";
const close = "Connection: close\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const post = (headers: string, body = "") =>
  `POST /v1/agents HTTP/1.1\r\n${requestHeaders(server)}${json}${headers}\r\n${body}`;
const get = (headers = "", path = "/v1/me") =>
  `GET ${path} HTTP/1.1\r\n${requestHeaders(server)}${close}${headers}\r\n`;
const send = (...requests: string[]) => rawRequest(server, requests);
const agentCount = async (): Promise<number> => (await server.get("/v1/agents?limit=100")).body.data.length;

/** By the socket's parser: no envelope, no request id, and the connection ends. */
function expectRefusedByParser(answer: RawAnswer, status = 400): void {
  expect({ ...answer, headers: null }).toEqual({ status, statuses: [status], headers: null, text: "", closed: true });
}

/** By runnel: with its envelope. */
function expectRefused(answer: RawAnswer, status: number, code: string): void {
  expect({ status: answer.status, code: errorEnvelopeOf(answer).code }).toEqual({ status, code });
}

// Only these lack a request id: runnel itself refuses everything else, with one.
describe("the documentation lists the parser's own responses", () => {
  const headers = Array.from({ length: 300 }, (_, index) => `X-${index}: a\r\n`).join("");
  const line = (text: string) => `${text}\r\n${requestHeaders(server)}\r\n`;
  const requests: Record<(typeof parserRefusals)[number][1], () => string[]> = {
    "two lengths of one body, or a length that is no number": () =>
      ["2\r\nTransfer-Encoding: chunked", "-1", "2, 2", "x"].map((length) =>
        post(`Content-Length: ${length}\r\n`, "{}"),
      ),
    "broken chunks, or another transfer encoding than `chunked`": () => [
      post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"),
      post("Transfer-Encoding: gzip\r\n"),
    ],
    "a header with a control character or a blank in its name, without a colon, or on two lines": () =>
      ["X\x01: a", "X: a\0b", "X A: b", "X-A : b", "XAB", ": x", "X: a\r\n folded"].map((text) => get(`${text}\r\n`)),
    "no `Host`": () => [`GET /v1/me HTTP/1.1\r\n${close}\r\n`],
    "an address that is none, or a blank or an empty line too many before it": () => [
      ...["*", "", "x", "?", "#"].map((target) => get("", target)),
      ` ${get()}`,
      `\r\n${get()}`,
      line("GET  /v1/me HTTP/1.1"),
      "\x16\x03\x01\x00\xa5\x01\x00\x00",
    ],
    "a chunk with too large an extension": () => [
      post("Transfer-Encoding: chunked\r\n", `2;a=${"b".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
    ],
    "more than 64 KB of headers, or more than 200 of them": () => [
      get(`X: ${"a".repeat(70_000)}\r\n`),
      get("", `/${"x".repeat(70_000)}`),
      get(headers),
    ],
    "another version than HTTP/1.1 or 1.0, none, or a blank in the address": () =>
      ["GET /v1/me HTTP/1.2", "GET /v1/me HTTP/2.0", "GET /v1/me", "GET /v1/me x HTTP/1.1"].map(line),
    "a method that no standard knows": () =>
      ["BREW", "get", "X".repeat(40)].map((method) => line(`${method} / HTTP/1.1`)),
  };

  test.each(parserRefusals)("%s: %s", async (status, when) => {
    for (const request of requests[when]()) {
      const answer = await send(request);
      const told = { status: answer.status || "none", id: answer.headers.get("x-request-id"), text: answer.text };
      expect({ request: request.slice(0, 100), closed: answer.closed, ...told }).toEqual({
        request: request.slice(0, 100),
        closed: true,
        status: status === "none" ? status : Number(status),
        id: null,
        text: "",
      });
    }
  });
});

describe("a Content-Length", () => {
  const framings: [title: string, headers: string, body: string][] = [
    ["beside chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"],
    ["after chunks", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"],
    ["given twice, differently", "Content-Length: 2\r\nContent-Length: 3\r\n", "{}x"],
    ["given as a list", "Content-Length: 2, 2\r\n", "{}"],
    ["that is negative", "Content-Length: -1\r\n", ""],
    ["with a sign", "Content-Length: +2\r\n", "{}"],
    ["in hexadecimal", "Content-Length: 0x2\r\n", "{}"],
    ["that is empty", "Content-Length: \r\n", "{}"],
    ["of 26 digits", `Content-Length: ${"9".repeat(26)}\r\n`, "{}"],
    ["that is 2 after 64 bits", "Content-Length: 18446744073709551618\r\n", "{}"],
  ];
  test.each(framings)("%s is refused, and the rest is no request", async (_, headers, body) => {
    const before = await agentCount();
    const smuggled = `POST /v1/agents HTTP/1.1\r\n${requestHeaders(server)}${json}Content-Length: ${agent.length}\r\n\r\n${agent}`;
    expectRefusedByParser(await send(post(headers, body + smuggled)));
    expect(await agentCount()).toBe(before);
  });

  test("of 10 GB is refused like one of 10 MB", async () => {
    const answer = await send(post(`Content-Length: ${10 * 1024 ** 3}\r\n`, "{"));
    expectRefused(answer, 413, "payload_too_large");
    expect([answer.closed, answer.headers.get("connection")]).toEqual([true, "close"]);
  });

  test("of 10 MB is refused with the reason, and the connection is closed", async () => {
    const answer = await send(post("Content-Length: 10000000\r\n", "{"));
    expectRefused(answer, 413, "payload_too_large");
    expect([answer.closed, answer.headers.get("connection")]).toEqual([true, "close"]);
  });

  test("whose body never comes gets a reason, and the connection ends", async () => {
    const answer = await send(post("Content-Length: 900\r\n", "{"));
    expectRefused(answer, 408, "body_timeout");
    expect([answer.closed, answer.headers.get("connection")]).toEqual([true, "close"]);
  });

  test("that a stranger announces is not waited for", async () => {
    const strange = `POST /v1/agents HTTP/1.1\r\nHost: x.example\r\n${json}Content-Length: 1000000\r\n\r\n{`;
    const answer = await rawRequest(server, strange);
    expectRefused(answer, 401, "missing_api_key");
  });

  test("of a stranger's request covers the following bytes: they are no request", async () => {
    const inner = get();
    const outer = `POST /v1/agents HTTP/1.1\r\nHost: x.example\r\n${json}Content-Length: ${inner.length}\r\n\r\n${inner}`;
    expect((await rawRequest(server, outer)).statuses).toEqual([401]);
  });

  test("of a GET is skipped, also by the next request on the connection", async () => {
    const body = `GET /v1/agents HTTP/1.1\r\n${requestHeaders(server)}\r\n`;
    const first = `GET /v1/me HTTP/1.1\r\n${requestHeaders(server)}Content-Length: ${body.length}\r\n\r\n${body}`;
    const { statuses } = await send(first, get("", "/v1/nothing"));
    expect(statuses).toEqual([200, 404]);
  });
});

describe("a chunked body", () => {
  const chunked = "Transfer-Encoding: chunked\r\n";

  test("is accepted like any other", async () => {
    expect((await send(post(`${close}${chunked}`, `${chunk(agent)}0\r\n\r\n`))).status).toBe(201);
  });

  test("that exceeds the limit is cut off there, with the reason", async () => {
    const pid = serverPid(server.dataDir);
    const before = figuresAvailable ? residentBytes(pid) : 0;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => rawRequest(server, post(chunked, chunk("x".repeat(65_536)).repeat(40)))),
    );
    for (const answer of answers) {
      expectRefused(answer, 413, "payload_too_large");
      expect(answer.closed).toBe(true);
    }
    // 20 × 2.5 MB were sent: if all were held, it would be these 50 MB and as much again for their texts.
    if (figuresAvailable) expect((residentBytes(pid) - before) / 1024 ** 2).toBeLessThan(80);
  });

  const broken: [title: string, body: string][] = [
    ["a size that is no number", "zz\r\n{}\r\n0\r\n\r\n"],
    ["a negative size", "-2\r\n{}\r\n0\r\n\r\n"],
    ["a size beyond 64 bits", "ffffffffffffffff2\r\n{}\r\n0\r\n\r\n"],
    ["a space after the size", "2 \r\n{}\r\n0\r\n\r\n"],
    ["bare line feeds", "2\n{}\n0\n\n"],
  ];
  test.each(broken)("with %s is refused", async (_, body) => {
    expectRefusedByParser(await send(post(chunked, body)));
  });

  test("with an extension of 1 MB is refused", async () => {
    const { statuses } = await send(post(chunked, `2;a=${"b".repeat(1_000_000)}\r\n{}\r\n0\r\n\r\n`));
    // The connection may be cut before the response is read, because more was sent than the server reads.
    expect([[413], []]).toContainEqual(statuses);
  });

  test("with a request in place of trailers: that request is not executed", async () => {
    const before = await agentCount();
    const smuggled = `POST /v1/agents HTTP/1.1\r\n${requestHeaders(server)}${json}Content-Length: ${agent.length}\r\n\r\n${agent}`;
    const { statuses, closed } = await send(post(chunked, `2\r\n{}\r\n0\r\n${smuggled}`));
    // The parser ends the connection, perhaps before the first response is sent.
    expect([[400], [400, 400]]).toContainEqual(statuses);
    expect([closed, await agentCount()]).toEqual([true, before]);
  });

  test("with trailers ends the connection: they are no headers of the next request", async () => {
    const { statuses, closed } = await send(`${post(chunked, `2\r\n{}\r\n0\r\nX-A: b\r\n\r\n`)}${get()}`);
    expect([[400], [400, 400]]).toContainEqual(statuses);
    expect(closed).toBe(true);
  });

  const encodings = ["xchunked", "identity", "gzip, chunked", "chunked, identity", "chunked\r\nTransfer-Encoding: x"];
  test.each(encodings)("with the transfer coding %j is refused", async (encoding) => {
    expectRefusedByParser(await send(post(`Transfer-Encoding: ${encoding}\r\n`, "2\r\n{}\r\n0\r\n\r\n")));
  });

  test.each(["Transfer-Encoding :", "Transfer-Encoding:\t", " Transfer-Encoding:", "X: y\r\n\tTransfer-Encoding:"])(
    "hidden behind %j from a proxy is refused",
    async (name) => {
      expectRefusedByParser(await send(post(`Content-Length: 2\r\n${name} chunked\r\n`, "{}")));
    },
  );
});

describe("a header", () => {
  test("Host is required", async () => {
    expectRefusedByParser(await send(`GET /v1/me HTTP/1.1\r\nAuthorization: Bearer x\r\n${close}\r\n`));
    expectRefused(await send("GET /v1/me HTTP/1.0\r\n\r\n"), 400, "validation_failed");
  });

  test("Host given twice is refused, also with equal values", async () => {
    expectRefused(await send(get("Host: evil.example\r\n")), 400, "validation_failed");
    expectRefused(await send(get(`Host: ${new URL(server.url).host}\r\n`)), 400, "validation_failed");
  });

  test("Authorization given twice authenticates nothing", async () => {
    expectRefused(await send(get("Authorization: Bearer sk_test_x\r\n")), 401, "invalid_api_key");
  });

  test.each(["X-A: a\rX-B: b", "X-A: a\nX-B: b", "X-A: a\0b", "XAB", ": x", "X-A: b\r\n folded", "X-Cl\x01: a"])(
    "with the value %j is refused",
    async (line) => {
      expectRefusedByParser(await send(get(`${line}\r\n`)));
    },
  );

  test("of 20 KB, and 300 of them, are refused; 150 small ones are not", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: a\r\n`).join("");
    expectRefused(await send(get(`X-A: ${"a".repeat(20_000)}\r\n`)), 431, "headers_too_large");
    expectRefused(await send(get("", `/v1/me?x=${"a".repeat(20_000)}`)), 431, "headers_too_large");
    expectRefusedByParser(await send(get(`X-A: ${"a".repeat(70_000)}\r\n`)), 431);
    expectRefusedByParser(await send(get(many(300))), 431);
    expect((await send(get(many(150)))).status).toBe(200);
  });

  test("of 1 MB is refused, or cut off", async () => {
    expect([[431], []]).toContainEqual((await send(get(`X-A: ${"a".repeat(1_000_000)}\r\n`))).statuses);
  });

  test("X-Request-Id of a client is ignored", async () => {
    const answer = await send(get("X-Request-Id: req_mine\r\n", "/v1/nothing"));
    expectRefused(answer, 404, "resource_not_found");
  });

  test("X-HTTP-Method-Override is ignored", async () => {
    expectRefused(await send(get("X-HTTP-Method-Override: POST\r\n", "/v1/nothing")), 404, "resource_not_found");
    const override = `POST /v1/me HTTP/1.1\r\n${requestHeaders(server)}${close}X-HTTP-Method-Override: GET\r\n\r\n`;
    expectRefused(await send(override), 405, "method_not_allowed");
  });

  test("Expect: 100-continue gets its response before the body", async () => {
    const { status } = await send(post(`${close}Expect: 100-continue\r\nContent-Length: ${agent.length}\r\n`, agent));
    expect(status).toBe(201);
  });

  test.each(["websocket", "h2c"])("Upgrade: %s is ignored", async (protocol) => {
    const upgrade = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n`;
    const answer = await rawRequest(server, `GET /v1/me HTTP/1.1\r\n${requestHeaders(server)}${upgrade}\r\n`);
    expect(answer.statuses).toEqual([200]);
  });
});

describe("a body that claims to be", () => {
  const compressed = Buffer.from(Bun.gzipSync(agent)).toString("latin1");
  test.each([
    ["compressed", "Content-Encoding: gzip\r\n", compressed],
    ["compressed in the end", "Content-Encoding: identity, gzip\r\n", compressed],
    ["two things", "Content-Type: text/plain\r\n", agent],
  ])("%s is refused", async (_, headers, body) => {
    const answer = await send(post(`${headers}${close}Content-Length: ${body.length}\r\n`, body));
    expectRefused(answer, 415, "unsupported_media_type");
  });

  test.each(["", "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Type: multipart/form-data\r\n"])(
    "no JSON (%j) is refused",
    async (type) => {
      const head = `POST /v1/agents HTTP/1.1\r\n${requestHeaders(server)}${close}${type}Content-Length: ${agent.length}\r\n\r\n`;
      expectRefused(await send(head + agent), 415, "unsupported_media_type");
    },
  );
});

describe("a method", () => {
  test.each(["OPTIONS", "TRACE", "CONNECT", "PUT", "PURGE"])("%s gets the list of allowed methods", async (method) => {
    const answer = await send(
      `${method} /v1/agents HTTP/1.1\r\n${requestHeaders(server)}${close}Content-Length: 0\r\n\r\n`,
    );
    expectRefused(answer, 405, "method_not_allowed");
    expect([answer.headers.get("allow"), answer.text.includes(server.keys.test)]).toEqual(["GET, POST", false]);
  });

  test("CONNECT to another host opens no tunnel", async () => {
    const answer = await send(`CONNECT evil.example:443 HTTP/1.1\r\n${requestHeaders(server)}${close}\r\n`);
    expectRefused(answer, 404, "resource_not_found");
  });

  test("HEAD responds like GET, without a body", async () => {
    for (const [path, status] of [
      ["/v1/me", 200],
      ["/v1/nothing", 404],
    ] as const) {
      const answer = await send(`HEAD ${path} HTTP/1.1\r\n${requestHeaders(server)}${close}\r\n`);
      expect([answer.status, answer.text]).toEqual([status, ""]);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    }
  });

  test.each(["BREW", "get", "\x16\x03\x01\x00\xa5"])("%j is refused", async (method) => {
    const { statuses, closed } = await send(`${method} /v1/me HTTP/1.1\r\n${requestHeaders(server)}${close}\r\n`);
    expect(closed).toBe(true);
    expect([[], [400]]).toContainEqual(statuses);
  });
});

describe("a request line", () => {
  test("with an absolute URL reaches the same path, whichever server it names", async () => {
    for (const base of [server.url, "http://evil.example", "https://u:p@evil.example"])
      expect((await send(get("", `${base}/v1/me`))).status).toBe(200);
  });

  test.each(["file:///etc/passwd", "ftp://x/v1/me", "v1/me", "@evil.example/v1/me", "?x", "*", "", "\\v1\\me"])(
    "for %j is refused",
    async (target) => {
      expectRefusedByParser(await send(get("", target)));
    },
  );

  test("with a fragment matches no route", async () => {
    expectRefused(await send(get("", "/v1/me#x")), 404, "resource_not_found");
  });

  const places = ["keys/..", "keys/%2e%2e", "keys/%2E.", "entries/..", "keys//../..", "keys/k/../..", "keys/a\\..\\.."];
  test.each(places)("with a dot segment deletes nothing: %s", async (place) => {
    const { body: store } = await server.post("/v1/memory", { name: place, kind: "kv" });
    for (const base of ["", server.url]) {
      const target = `${base}/v1/memory/${store.id}/${place}`;
      expectRefused(
        await send(`DELETE ${target} HTTP/1.1\r\n${requestHeaders(server)}${close}\r\n`),
        400,
        "validation_failed",
      );
    }
    expect((await server.get(`/v1/memory/${store.id}`)).status).toBe(200);
  });

  test("with an invalid encoding matches no route", async () => {
    for (const part of ["%ff", "%zz", "%"]) {
      const callback = `POST /callbacks/${part} HTTP/1.1\r\n${requestHeaders(server)}${close}Content-Length: 0\r\n\r\n`;
      expectRefused(await send(callback), 404, "resource_not_found");
      expect((await send(get("", `/openai/v1/files/${part}`))).status).toBe(404);
    }
  });

  test("of another protocol, or malformed, is refused by the parser alone", async () => {
    const refused = [
      `GET /v1/me HTTP/2.0\r\n${requestHeaders(server)}\r\n`,
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      `GET /v1/me HTTP/1.1\n${requestHeaders(server).replaceAll("\r\n", "\n")}\n`,
      get("", "/v1/me\0"),
      get("", "/v1/\tme"),
    ];
    for (const request of refused) {
      const { statuses, text, closed } = await send(request);
      // The parser's 505 for an unknown version is no failure of the server.
      expect([[400], [505]]).toContainEqual(statuses);
      expect([text, closed]).toEqual(["", true]);
    }
  });

  test("after another one on the same connection has its own response", async () => {
    const first = `GET /v1/me HTTP/1.1\r\n${requestHeaders(server)}\r\n`;
    const all = [200, 200, 404];
    // Bun closes the connection if a request arrives before the previous response, unless that is there at once.
    for (let statuses: number[] = []; statuses.length < all.length; ) {
      ({ statuses } = await send(first, first, get("", "/v1/nothing")));
      expect(statuses).toEqual(all.slice(0, statuses.length));
    }
  });
});
