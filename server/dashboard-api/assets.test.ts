import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { Elysia } from "elysia";
import { createRateLimiter } from "../http/rate-limit.ts";
import { createResponseFinalizer } from "../http/response-finalizer.ts";
import { createDashboard } from "./assets.ts";

const script = "console.info('the dashboard')";
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-dashboard-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><meta name="csp-nonce" nonce="__CSP_NONCE__"><title>runnel</title>',
  );
  writeFileSync(join(folder, "assets/app-h4sh.js"), script);
  writeFileSync(join(folder, "assets/app-h4sh.js.br"), brotliCompressSync(script));
  writeFileSync(join(folder, "assets/plain-h4sh.txt"), "plain");
});
afterAll(() => rmSync(folder, { recursive: true }));

async function serve({ insist = false, ...options }: { folder?: string; insist?: boolean } = {}) {
  const root = new Elysia({ normalize: false });
  const app = root
    .use(
      createResponseFinalizer({
        routes: () => root.routes,
        limiter: createRateLimiter(),
        publicUrl: () => "https://localhost",
        gate: { admit: () => {}, clientOf: () => null, isRebound: () => false, shouldSendHsts: () => insist },
        onBug: (error) => {
          throw error;
        },
      }),
    )
    .use(createDashboard({ folder, ...options }));
  return (path: string, headers: Record<string, string> = {}) =>
    app.handle(new Request(`https://localhost${path}`, { headers }));
}

describe("the dashboard's page", () => {
  test.each(["/dashboard", "/dashboard/", "/dashboard/runs/run_1?x=1"])(
    "is served at %s and never kept",
    async (path) => {
      const response = await (await serve())(path);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(await response.text()).toContain("<title>runnel</title>");
      expect(response.headers.get("cache-control")).toBe("no-cache");
    },
  );

  test("names the nonce of its policy, another one each time, and lets in no other styles or scripts", async () => {
    const get = await serve();
    const nonces = new Set<string>();
    for (let i = 0; i < 2; i++) {
      const response = await get("/dashboard");
      const [, nonce = "none"] = /<meta name="csp-nonce" nonce="([^"]+)">/.exec(await response.text()) ?? [];
      const policy = response.headers.get("content-security-policy");
      expect(policy).toContain(`script-src 'self'; style-src 'self' 'nonce-${nonce}'; connect-src`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(2);
  });

  test("is where / leads", async () => {
    const response = await (await serve())("/");
    expect([response.status, response.headers.get("location")]).toEqual([302, "/dashboard"]);
  });

  test("reports that the dashboard is not built", async () => {
    const response = await (await serve({ folder: join(folder, "missing") }))("/dashboard/");
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("not built");
  });
});

describe("a file of the dashboard", () => {
  test("is cached forever, because its name changes with its content", async () => {
    const response = await (await serve())("/dashboard/assets/app-h4sh.js");
    expect([response.status, await response.text()]).toEqual([200, script]);
    expect(response.headers.get("content-type")).toContain("javascript");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test("is sent compressed to clients that accept it", async () => {
    const get = await serve();
    const response = await get("/dashboard/assets/app-h4sh.js", { "accept-encoding": "gzip, br;q=0.9" });
    expect(response.headers.get("content-encoding")).toBe("br");
    expect(response.headers.get("vary")).toBe("accept-encoding");
    expect(response.headers.get("content-type")).toContain("javascript");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(brotliCompressSync(script)));
    const refused = await get("/dashboard/assets/app-h4sh.js", { "accept-encoding": "gzip, br;q=0" });
    expect(await refused.text()).toBe(script);
    const without = await get("/dashboard/assets/plain-h4sh.txt", { "accept-encoding": "br" });
    expect(await without.text()).toBe("plain");
  });

  test.each([
    "/dashboard/assets/other.js",
    "/dashboard/assets/app-h4sh.js.br",
    "/dashboard/assets/../../package.json",
    "/dashboard/assets/%2e%2e%2f%2e%2e%2fpackage.json",
  ])("that is none is a 404 or the page, never a file of this machine: %s", async (path) => {
    const response = await (await serve())(path);
    expect(await response.text()).not.toContain("dependencies");
    if (path.startsWith("/dashboard/assets/") && !path.includes("..")) expect(response.status).toBe(404);
  });
});

test("every answer has the security headers and a request id", async () => {
  const get = await serve();
  for (const path of ["/", "/dashboard", "/dashboard/assets/app-h4sh.js", "/dashboard/assets/plain-h4sh.txt"]) {
    for (const encoding of ["br", "identity"]) {
      const { headers } = await get(path, { "accept-encoding": encoding });
      expect([path, headers.get("content-security-policy")]).toEqual([
        path,
        expect.stringContaining("default-src 'none'"),
      ]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("strict-transport-security")).toBeNull();
      expect([path, headers.get("x-request-id")]).toEqual([path, expect.stringMatching(/^req_/)]);
    }
  }
});

test.each(["/dashboard", "/", "/dashboard/assets/app-h4sh.js", "/dashboard/assets/none.js", "/v1/none"])(
  "browsers are told to insist on HTTPS by %s, where the certificate is a real one",
  async (path) => {
    const { headers } = await (await serve({ insist: true }))(path, { "accept-encoding": "br" });
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
  },
);
