import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateAuthority } from "../testing/certificate-authority.ts";
import { bearer, parsed, runnel, startServer } from "../testing/command-line.ts";
import { startupBanner } from "./serve/startup-banner.ts";

// Ends a hang only: a test starts up to ten processes. With the one that is late, Bun kills the server of the others.
setDefaultTimeout(180_000);

describe("a separate server", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "runnel-cli-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("ends its streams with a comment on SIGTERM and exits with 0; the next start prints addresses and no keys", async () => {
    const data = join(folder, "data");
    const server = await startServer(data);
    const post = { ...bearer(server.greeting.keys!.test), method: "POST" };
    const json = (body: object) => ({
      ...post,
      headers: { ...post.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const script = [{ text: "a b c d e f g h i j", delta_ms: 60_000 }];
    const slow = { name: "slow", instructions: "Wait.", model: "test/script", model_settings: { script } };
    const agent = await parsed(await server.get("/v1/agents", json(slow)));
    const stream = await server.get("/v1/runs", json({ agent_id: agent.id, input: "x", stream: true }));
    const reader = stream.body!.getReader();
    await reader.read();
    const ended = server.stop();
    let [rest, done] = ["", false];
    while (!done) {
      const chunk = await reader.read();
      rest += new TextDecoder().decode(chunk.value);
      done = chunk.done;
    }
    expect(await ended).toBe(0);
    expect(rest).toMatch(/: [^\n]+\n\n$/);
    expect(await server.log.whole).not.toContain(server.greeting.keys!.test);

    const again = await startServer(data);
    expect(again.greeting).toMatchObject({ keys: null, setup_link: null, recovered_runs: 1 });
    expect(await again.stop()).toBe(0);
  });

  test("exits at once on a second signal", async () => {
    const server = await startServer(join(folder, "data"), ["--insecure-http"]);
    // A request whose body never ends keeps the server from stopping.
    const held = await Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(server.greeting.address).port),
      socket: { data() {} },
    });
    held.write(
      `POST /v1/agents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.greeting.keys!.test}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await server.get("/healthz"); // The response proves that the data sent before was read.
    server.child.kill("SIGTERM");
    await server.log.holds("stopping");
    server.child.kill("SIGTERM");
    expect(await server.child.exited).toBe(1);
    held.end();
  });

  test("says at its start, in its log's format, which setting has an old name", async () => {
    const server = await startServer(join(folder, "data"), ["--log", "json"]);
    await server.log.holds("--log-format");
    await server.stop();
    const [first = ""] = (await server.log.whole).split("\n");
    expect(JSON.parse(first)).toMatchObject({
      level: "warn",
      message: expect.stringContaining("--log is the old name of --log-format"),
    });
  });

  test("is reached by this machine's commands although its certificate is for another name", async () => {
    const { ca, issue } = await createCertificateAuthority();
    const pair = await issue({ names: ["runs.example.com"] });
    const [cert, key, authority] = ["cert", "key", "ca"].map((name) => join(folder, `${name}.pem`)) as string[];
    writeFileSync(cert!, pair.cert);
    writeFileSync(key!, pair.key);
    writeFileSync(authority!, ca);
    const data = join(folder, "named");
    const named = await startServer(data, ["--host", "0.0.0.0", "--tls-cert", cert!, "--tls-key", key!]);
    const RUNNEL_METRICS_TOKEN = "not for who cannot prove to be the server";
    for (const command of [["health"], ["top", "--json", "--interval", "0.1"]])
      expect(await runnel([...command, "--data-dir", data], { RUNNEL_METRICS_TOKEN })).toMatchObject({ code: 0 });
    // The name is verified if a key would be sent.
    const url = named.greeting.address;
    for (const flags of [[], ["--url", url], ["--url", url, "--cacert", authority!]]) {
      const env = { RUNNEL_API_KEY: named.greeting.keys!.test };
      const refused = await runnel(["trace", "run_00000000000000000000000000", "--data-dir", data, ...flags], env);
      expect(refused).toMatchObject({
        code: 1,
        err: expect.stringContaining("--url with the name of its certificate"),
      });
    }
    expect((await runnel(["health", "--url", url])).code).toBe(1);
    await named.stop();
  });

  test("prints working addresses at a first start behind a proxy, and keeps its first keys despite plain HTTP requests", async () => {
    const { ca, issue } = await createCertificateAuthority();
    const authority = join(folder, "proxy-ca.pem");
    writeFileSync(authority, ca);
    let behind = "";
    /** Forwards a request as the proxy does: by default as an HTTPS request from the address of its peer. */
    const forward = async (request: Request, peer: string, claims: Record<string, string> = {}) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      const said = { "x-forwarded-proto": "https", "x-forwarded-for": peer, ...claims };
      for (const [name, value] of Object.entries(said)) headers.set(name, value);
      return await fetch(`${behind}${pathname}${search}`, { headers, redirect: "manual", keepalive: false });
    };
    await using proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: await issue({ names: ["127.0.0.1"] }),
      fetch: (request, own) => forward(request, own.requestIP(request)!.address),
    });
    const data = join(folder, "first-behind-proxy");
    const server = await startServer(data, ["--trusted-proxies", "127.0.0.1", "--public-url", proxy.url.origin]);
    const { address, keys } = server.greeting;
    behind = address;
    const ask = (url: string, key?: string) => fetch(url, { ...(key && bearer(key)), tls: { ca }, keepalive: false });
    const codeOf = async (answer: Response) => [answer.status, (await parsed(answer)).error?.code];

    const text = startupBanner(server.greeting);
    const [, key, url] = /Bearer (\w+)" (\S+)/.exec(text)!;
    expect((await ask(url!, key!)).status).toBe(200);
    const [link] = /https:\S+\/dashboard\/setup#\S+/.exec(text)!;
    expect((await ask(link)).status).toBe(200);
    expect(text).not.toContain(address);
    const another = await runnel(["admin", "setup-link", "--data-dir", data]);
    expect(another.out).toStartWith(`${proxy.url.origin}/dashboard/setup#`);
    const command = ["trace", "run_00000000000000000000000000", "--data-dir", data, "--cacert", authority];
    const asked = await runnel(command, { RUNNEL_API_KEY: keys!.live });
    expect(asked.err).toContain("There is nothing with this id.");

    // Direct requests from this machine are refused and logged, and both keys stay valid.
    for (const secret of [keys!.live, keys!.test, keys!.live])
      expect(await codeOf(await server.get("/v1/me", bearer(secret)))).toEqual([403, "https_required"]);
    await server.log.holds("from this machine and was kept");
    const me = `${proxy.url.origin}/v1/me`;
    for (const secret of [keys!.live, keys!.test]) expect((await ask(me, secret)).status).toBe(200);

    // Plain HTTP from elsewhere, according to the proxy: the last admin key stays, any other live key is revoked.
    const made = await runnel(["keys", "create", "--env", "live", "--scopes", "run", "--json", "--data-dir", data]);
    const other: string = JSON.parse(made.out).secret;
    const inClear = { "x-forwarded-proto": "http" };
    for (const secret of [keys!.live, other])
      expect(await codeOf(await forward(new Request(me, bearer(secret)), "203.0.113.7", inClear))).toEqual([
        403,
        "https_required",
      ]);
    await server.log.holds("because it is the last admin key");
    await server.log.holds("in clear text and was revoked");
    expect((await ask(me, keys!.live)).status).toBe(200);
    const revoked = await ask(me, other);
    expect(revoked.status).toBe(401);
    expect((await parsed(revoked)).error).toMatchObject({ code: "key_revoked", details: { reason: "exposed" } });
    expect(await server.stop()).toBe(0);
    expect(await server.log.whole).not.toContain(keys!.live);
  });

  test("accepts plain HTTP on loopback if allowed, and behind a proxy only requests that came by HTTPS", async () => {
    const plain = await startServer(join(folder, "plain"), ["--insecure-http"]);
    expect(plain.greeting.address).toStartWith("http://127.0.0.1:");
    expect((await plain.get("/v1/me", bearer(plain.greeting.keys!.test))).status).toBe(200);
    await plain.stop();
    const proxied = await startServer(join(folder, "proxied"), ["--trusted-proxies", "127.0.0.1"]);
    const key = bearer(proxied.greeting.keys!.test);
    const refused = await proxied.get("/v1/me", key);
    expect([refused.status, (await parsed(refused)).error.code]).toEqual([403, "https_required"]);
    const forwarded = { headers: { ...key.headers, "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" } };
    expect((await proxied.get("/v1/me", forwarded)).status).toBe(200);
    for (const host of ["a", "hq", "abc", "a:8080"]) {
      const short = { headers: { ...forwarded.headers, host } };
      expect([host, (await proxied.get("/v1/me", short)).status]).toEqual([host, 200]);
    }
    // Commands and Prometheus on this machine reach it without the proxy.
    for (const command of [["health"], ["top", "--json", "--interval", "0.1"]])
      expect(await runnel([...command, "--data-dir", join(folder, "proxied")])).toMatchObject({ code: 0 });
    expect((await proxied.get("/metrics")).status).toBe(200);
    expect((await proxied.get("/metrics", { headers: { ...forwarded.headers, authorization: "" } })).status).toBe(401);
    await proxied.stop();
  });
});
