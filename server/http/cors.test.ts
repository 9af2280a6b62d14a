import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { temporaryFolder } from "../testing/temporary.ts";
import { type Client, testApp } from "../testing/test-app.ts";

const server = testApp();
const [page, other] = ["https://shop.example", "https://other.example"];
let shop: Client;
let stranger: Client;
let token: string;
let agent_id: string;

beforeAll(async () => {
  shop = await server.client({ project: "shop" });
  stranger = await server.client({ project: "stranger" });
  await server.projects.update(shop.scope.project_id, { origins: [page] });
  await server.projects.update(stranger.scope.project_id, { origins: [other] });
  agent_id = (await shop.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const made = await shop.post("/v1/client_tokens", { agent_id, scopes: ["run", "read"], expires_in_seconds: 600 });
  token = made.body.token;
});
afterAll(() => server[Symbol.asyncDispose]());

const ask = (origin: string, secret: string | null, path = "/v1/runs", method = "GET", body?: unknown) =>
  server.send(method, path, body, { origin, ...(secret !== null && { authorization: `Bearer ${secret}` }) });

const preflight = (origin: string, path = "/v1/runs") =>
  server.app.handle(
    new Request(`http://localhost${path}`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
      },
    }),
  );

const ofCors = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith("access-control-"));

test("a page of a listed origin gets a preflight response before it sends a key, and may read responses", async () => {
  const { status, headers } = await preflight(page);
  expect([status, headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([204, page, "Origin"]);
  expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type,idempotency-key");
  expect(headers.get("access-control-allow-methods")).toContain("POST");
  expect(headers.has("access-control-allow-credentials")).toBe(false);
  expect(headers.get("x-request-id")).toMatch(/^req_/);
  for (const answer of [
    await ask(page, token),
    await ask(page, shop.key.secret),
    await ask(page, token, "/v1/runs", "POST", { agent_id, input: "Hi." }),
    await ask(page, token, "/v1/runs", "POST", { agent_id, input: "Hi.", stream: true }),
    await ask(page, token, "/v1/runs/none"),
    await ask(page, null),
    await ask(page, "sk_test_wrong"),
  ]) {
    const { headers } = answer;
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([page, "Origin"]);
    expect(headers.get("access-control-expose-headers")).toContain("X-Request-Id");
  }
});

test("a page of an unlisted origin is refused, with no readable details", async () => {
  for (const origin of [
    "https://evil.example",
    "null",
    "https://shop.example.evil.example",
    "http://shop.example",
    "*",
  ]) {
    const refused = await preflight(origin);
    expect([refused.status, ofCors(refused.headers)]).toEqual([403, []]);
    const asked = await ask(origin, token);
    expect([asked.status, asked.body.error.code, ofCors(asked.headers)]).toEqual([403, "origin_not_allowed", []]);
    expect(ofCors((await ask(origin, null)).headers)).toEqual([]);
  }
});

test("a page listed by another project can do nothing with a token, and read nothing with a key", async () => {
  const asked = await ask(other, token, "/v1/runs", "POST", { agent_id, input: "Hi." });
  expect([asked.status, asked.body.error.code, ofCors(asked.headers)]).toEqual([403, "origin_not_allowed", []]);
  expect(ofCors((await ask(other, shop.key.secret)).headers)).toEqual([]);
});

test("a request without a foreign origin is answered as before", async () => {
  const plain = await shop.get("/v1/runs");
  expect([plain.status, plain.headers.has("vary"), ofCors(plain.headers)]).toEqual([200, false, []]);
  const own = await server.send("GET", "/v1/runs", undefined, {
    origin: "http://localhost",
    host: "localhost",
    authorization: `Bearer ${token}`,
  });
  expect([own.status, ofCors(own.headers)]).toEqual([200, []]);
});

test("an owner's change counts at the next request, and an archived project serves no page", async () => {
  const { project_id } = stranger.scope;
  const fresh = "https://fresh.example";
  expect((await preflight(fresh)).status).toBe(403);
  await server.projects.update(project_id, { origins: [fresh] });
  expect((await preflight(fresh)).status).toBe(204);
  expect((await preflight(other)).status).toBe(403);
  await server.projects.update(project_id, { limits: { reads_per_minute: 5 } });
  expect((await preflight(fresh)).status).toBe(204);
  await server.projects.update(project_id, { origins: [] });
  expect((await preflight(fresh)).status).toBe(403);
  expect(server.projects.byId(project_id).settings.origins).toBeUndefined();
});

describe("a response that a page may read varies by origin", () => {
  const folder = temporaryFolder();
  const files = {
    "index.html": "Docs",
    "embed.js": "1",
    "chat.js": "1",
    "chat.css": "",
    "llms.txt": "a",
    "404.html": "",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.file(name), text);
  const site = testApp({ docs: folder.path, dashboard: true });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });
  const pages = ["/docs", "/embed.js", "/chat.js", "/chat.css", "/llms.txt", "/docs/none", "/docs/errors", "/healthz"];

  async function owner() {
    const client = await site.client();
    const limits = { reads_per_minute: 0, writes_per_minute: 0, run_creations_per_minute: 0 };
    await site.projects.update(client.scope.project_id, { origins: [page], limits });
    return client;
  }

  test("on every route, whatever it returns", async () => {
    const { key } = await owner();
    const routes = site.routes().filter(({ method, path }) => /^[A-Z]+$/.test(method) && !path.startsWith("/console/"));
    const asked = [...routes, ...pages.map((path) => ({ method: "GET", path }))];
    let answered = 0;
    for (const { method, path } of asked)
      for (const more of [
        ["accept", "*/*"],
        ["authorization", `Bearer ${key.secret}`],
        ["if-none-match", "*"],
      ]) {
        const body = ["GET", "HEAD", "DELETE"].includes(method) ? undefined : {};
        const address = path.replaceAll(/:\w+/g, "none").replace("*", "none");
        const { headers } = await site.send(method, address, body, { origin: page, [more[0]!]: more[1]! });
        const vary = headers.get("vary")?.toLowerCase().split(/, ?/) ?? [];
        if (!headers.has("access-control-allow-origin")) continue;
        answered++;
        expect({ method, path, varies: vary.includes("origin") }).toEqual({ method, path, varies: true });
      }
    expect(answered).toBeGreaterThan(300);
  });

  test("also without an origin, if the response may be stored", async () => {
    const client = await owner();
    const form = new FormData();
    form.append("file", new File(["text"], "a.txt"));
    form.append("purpose", "attachment");
    const authorization = `Bearer ${client.key.secret}`;
    const sent = new Request("http://localhost/v1/files", { method: "POST", body: form, headers: { authorization } });
    const { id } = (await (await site.app.handle(sent)).json()) as { id: string };
    const stored = [...pages.filter((path) => path !== "/healthz"), "/chat/none", `/v1/files/${id}/content`];
    for (const path of stored) {
      const { headers } = await site.send("GET", path, undefined, { authorization });
      expect({ path, vary: headers.get("vary") }).toEqual({ path, vary: expect.stringMatching(/\borigin\b/i) });
    }
  });
});

test("the dashboard's API is for its own pages, whatever origins a project lists", async () => {
  await using own = testApp({ dashboard: true });
  const { scope } = await own.client();
  await own.projects.update(scope.project_id, { origins: [page] });
  const { headers } = await own.send("GET", "/console/api/session", undefined, { origin: page });
  expect(ofCors(headers)).toEqual([]);
});

test("an invalid origin is refused with its position", async () => {
  const update = async () => server.projects.update(shop.scope.project_id, { origins: [page, "*"] });
  expect(update()).rejects.toMatchObject({ code: "validation_failed", param: "origins[1]" });
});
