import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { normalizeHost } from "../http/normalize-host.ts";
import { silentLog } from "../lib/log.ts";
import { rawAsk } from "../testing/raw-ask.ts";
import { type Client, testApp } from "../testing/test-app.ts";
import { createListener } from "./serve/listener.ts";

// Uses raw sockets, because every HTTP client resolves dot segments before it sends a URL.
const server = testApp({ dashboard: true });
const handle = (request: Request) => server.app.fetch(normalizeHost(request));
const listener = createListener({ host: "127.0.0.1", port: 0, certificate: null, log: silentLog, handle });
let admin: Client;
beforeAll(async () => {
  admin = await server.client();
  const limits = { reads_per_minute: 0, writes_per_minute: 0, run_creations_per_minute: 0 };
  await server.projects.update(admin.scope.project_id, { limits });
});
afterAll(async () => {
  await listener.cut();
  await server[Symbol.asyncDispose]();
});

const ask = async (method: string, target: string) => {
  const headers = { authorization: `Bearer ${admin.key.secret}`, "content-type": "application/json" };
  const isRead = method === "GET" || method === "HEAD";
  const { status, text } = await rawAsk(listener.port, {
    method,
    target,
    headers: isRead ? headers : { ...headers, "content-length": "0" },
  });
  return { status, code: text.startsWith("{") ? (JSON.parse(text).error?.code as string | undefined) : undefined };
};
const refused = { status: 400, code: "validation_failed" };

const dots = [
  ".",
  "..",
  "%2e",
  "%2E",
  "%2e%2E",
  ".%2e",
  "%2e.",
  "a/../b",
  "a/%2e%2e/b",
  "a/..",
  "..\\a",
  "a\\..",
  "a\\b",
];
// Valid path segments, which are looked up unchanged.
const odd = ["", "%00", "%2f..", "a%2f..%2fb", "%5c..", "...", "..a", "%252e%252e", "%ff"];

const routes = server
  .routes()
  .filter(({ path, method }) => path.includes("/:") && /^[A-Z]+$/.test(method))
  .map(({ method, path }) => ({ method, path: path.replace(/(?<=.)\/$/, "") }));

/** Returns a URL for each parameter of a route, with `value` in its place. */
const targetsOf = (path: string, value: string): string[] =>
  [...path.matchAll(/:\w+/g)].map(({ 0: name, index }) =>
    `${path.slice(0, index)}${value}${path.slice(index + name.length)}`.replaceAll(/:\w+/g, "none").replace("*", "x"),
  );

test("there are routes with parameters, also of the protocols and of the dashboard", () => {
  for (const part of ["/v1/memory/:id/keys/:key", "/console/api/", "/openai/v1/", "/a2a/", "/streams/", "/callbacks/"])
    expect(routes.some(({ path }) => path.startsWith(part))).toBe(true);
});

test.each(routes)(
  "$method $path never resolves a dot segment, and does not fail with a 500 on odd segments",
  async ({ method, path }) => {
    for (const value of dots)
      for (const target of targetsOf(path, value)) {
        const { status, code } = await ask(method, target);
        expect({ target, status, code: method === "HEAD" ? refused.code : code }).toEqual({ target, ...refused });
      }
    for (const value of odd)
      for (const target of targetsOf(path, value)) {
        const { status } = await ask(method, target);
        expect({ target, ok: status < 500 && status > 0 }).toEqual({ target, ok: true });
      }
  },
);

describe("a memory key that is named like a dot segment", () => {
  const places = ["keys/..", "keys/%2e%2e", "keys/%2E.", "entries/..", "keys//../..", "keys/k/../..", "keys/a\\..\\.."];

  test.each(places)("deletes no store: %s", async (place) => {
    const { body: store } = await admin.post("/v1/memory", { name: place, kind: "kv" });
    expect(await ask("DELETE", `/v1/memory/${store.id}/${place}`)).toEqual(refused);
    expect((await admin.get(`/v1/memory/${store.id}`)).status).toBe(200);
  });
});

describe("a URL", () => {
  test.each([
    "/v1/x/../me",
    "/v1/./me",
    "/v1/me/.",
    "/x/..",
    "/..",
    "/%2e",
    "/v1//../v1/me",
    "/v1/me//..",
    `/${"x/".repeat(60)}${"../".repeat(60)}v1/me`,
    `/${"x/".repeat(150)}${"../".repeat(150)}v1/me`,
    "/x//../..\\v1/me",
    "http://localhost/x/../v1/me",
    "/docs/../v1/me",
    "/v1/me/..?a=b",
    "/healthz/../v1/me",
  ])("with a dot segment is refused: %s", async (target) => {
    expect(await ask("GET", target)).toEqual(refused);
  });

  test.each([
    ["/v1/me", 200],
    ["/v1/me?x=/../", 400],
    ["http://localhost/v1/me", 200],
    ["/v1/agents/", 200],
    ["/healthz", 200],
    ["/", 404],
    ["//v1/me", 404],
    ["/v1//me", 404],
    [`/v1${"/x".repeat(60)}`, 404],
    [`/v1${"/x".repeat(150)}`, 404],
    ["/v1/memory//keys/k", 404],
    ["/v1/agents/a%5cb", 404],
    ["/v1/agents/%zz", 404],
  ])("without a dot segment is handled as usual: %s is %i", async (target, status) => {
    expect((await ask("GET", target)).status).toBe(status);
  });

  test("is refused with an error in the usual form, with all headers", async () => {
    const { head, text } = await rawAsk(listener.port, { method: "GET", target: "/v1/me/.." });
    const { error, request_id } = JSON.parse(text);
    expect(error).toMatchObject({ type: "invalid_request_error", code: "validation_failed", param: null });
    for (const name of [`x-request-id: ${request_id}`, "x-ratelimit-limit: ", "x-content-type-options: nosniff"])
      expect(head).toContain(name);
  });
});
