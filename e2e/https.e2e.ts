import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { ownCertificate } from "../server/lib/certificate.ts";
import { startAcmeServer } from "../server/testing/acme-server.ts";
import { createCertificateAuthority } from "../server/testing/certificate-authority.ts";
import { textsOf } from "./event-stream.ts";
import { createScripted } from "./fixtures.ts";
import { type Json, type Runnel, runCommand, startRunnel } from "./harness.ts";
import { startPebble } from "./pebble.ts";

const day_ms = 86_400_000;
const authority = await createCertificateAuthority();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-https-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Certificate files of the operator, as a renewal tool writes them. */
async function operatorFiles(names: readonly string[] = ["127.0.0.1", "localhost"]) {
  const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const write = (pair: { cert: string; key: string }): string => {
    writeFileSync(keyPath, pair.key);
    writeFileSync(certPath, pair.cert);
    return new X509Certificate(pair.cert).fingerprint256;
  };
  const renew = async (to?: number): Promise<string> => write(await authority.issue({ names, to }));
  const first = await renew();
  return { flags: ["--tls-cert", certPath, "--tls-key", keyPath], first, renew, certPath, keyPath };
}

/** Returns the fingerprint of the certificate that a new connection gets. */
async function fingerprintOf({ url }: Pick<Runnel, "url">): Promise<string> {
  const socket = await dial(url);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

function dial(url: string, servername = "localhost"): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const options = { host: "127.0.0.1", port: Number(new URL(url).port), servername, rejectUnauthorized: false };
  const socket = connect(options, () => resolve(socket));
  socket.on("error", reject);
  return promise;
}

async function until<T>(ask: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const value = await ask();
    if (holds(value)) return value;
    if (tries > 5000) throw new Error(`It did not come to be: ${String(value)}`);
    await Bun.sleep(10);
  }
}

/** Sends 200 requests a second until it is stopped, half of them on new connections, and then returns the failures. */
function startLoad(server: Runnel) {
  const failed: string[] = [];
  const asked: Promise<void>[] = [];
  const one = async (keepalive: boolean): Promise<void> => {
    try {
      const response = await server.fetch("/v1/me", { keepalive } as RequestInit);
      await response.arrayBuffer();
      if (response.status !== 200) failed.push(`status ${response.status}`);
    } catch (error) {
      failed.push(String(error));
    }
  };
  const timer = setInterval(() => asked.push(one(true), one(false)), 10);
  return {
    asked: () => asked.length,
    async stop(): Promise<string[]> {
      clearInterval(timer);
      await Promise.all(asked);
      return failed;
    },
  };
}

describe("a renewed certificate", () => {
  test("is loaded at SIGHUP, three times under 200 requests a second: none fails, streams and idle connections stay", async () => {
    const files = await operatorFiles();
    await using server = await startRunnel({ flags: files.flags, ca: authority.ca });
    const text = "word ".repeat(500).trim();
    const agent_id = await createScripted(server, [{ text, delta_ms: 20 }]);
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } })),
    );
    expect(await fingerprintOf(server)).toBe(files.first);
    const idle = await dial(server.url);
    const load = startLoad(server);

    for (let renewal = 0; renewal < 3; renewal++) {
      const renewed = await files.renew();
      server.signal("SIGHUP");
      await until(
        () => fingerprintOf(server),
        (seen) => seen === renewed,
      );
      // No connection of many gets the old one any more.
      const seen = await Promise.all(Array.from({ length: 20 }, () => fingerprintOf(server)));
      expect(new Set(seen)).toEqual(new Set([renewed]));
      if (renewal === 0) {
        const answer = await ask(idle, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        expect(answer).toStartWith("HTTP/1.1 200");
        expect(answer).toMatch(/\r\nconnection: close\r\n/i); // The next request gets the new certificate.
      }
    }
    await until(load.asked, (asked) => asked > 500);
    expect(await load.stop()).toEqual([]);
    for (const stream of streams) {
      expect((await stream.rest()).at(-1)?.event).toBe("run.completed");
      expect(textsOf(stream.frames)).toEqual([text]);
    }
    expect(await server.stop()).toBe(0);
  });

  test("is found without a signal; an expired or mismatched pair leaves the previous one", async () => {
    const files = await operatorFiles();
    await using server = await startRunnel({ flags: files.flags, ca: authority.ca });
    const renewed = await files.renew();
    await until(
      () => fingerprintOf(server),
      (seen) => seen === renewed,
    );
    const useless = () => server.log().split("of no use").length - 1;
    // The two files of a pair do not change at once: a check in between may log a fault, too.
    const said = async (change: () => unknown): Promise<void> => {
      const before = useless();
      await change();
      server.signal("SIGHUP");
      await until(useless, (times) => times > before);
    };
    const stranger = await authority.issue({ names: ["localhost"] });
    await said(() => writeFileSync(files.keyPath, stranger.key));
    await said(() => files.renew(Date.now() - day_ms / 2));
    await said(() => rmSync(files.certPath));
    expect(await fingerprintOf(server)).toBe(renewed);
    expect((await server.get("/v1/me")).status).toBe(200);
  });

  test("created by the server itself is renewed while it runs", async () => {
    await using server = await startRunnel();
    const first = await fingerprintOf(server);
    const tls = join(server.dataDir, "tls");
    rmSync(tls, { recursive: true });
    const { cert } = await ownCertificate(tls, "127.0.0.1", Date.now() - 380 * day_ms); // Near its expiry.
    server.signal("SIGHUP");
    const renewed = await until(
      () => fingerprintOf(server),
      (seen) => seen !== first,
    );
    expect(renewed).not.toBe(new X509Certificate(cert).fingerprint256);
    const kept = new X509Certificate(readFileSync(join(tls, "cert.pem")));
    expect(renewed).toBe(kept.fingerprint256);
    expect(kept.validToDate.getTime()).toBeGreaterThan(Date.now() + 300 * day_ms);
  });
});

test.each([[[]], [["--insecure-http"]]])(
  "a second server on the same port reports that it is taken and exits (%j)",
  async (flags: string[]) => {
    await using server = await startRunnel({ flags });
    const { port } = new URL(server.url);
    for (const more of [[], ["--insecure-http"]]) {
      const second = await runCommand(["serve", "--port", port, "--data-dir", join(folder, "other"), ...more]);
      expect([second.code, second.stdout]).toEqual([1, ""]);
      expect(second.stderr).toContain(`Port ${port} of 127.0.0.1 is taken`);
    }
    const other = ["--port", "0", "--data-dir", join(folder, "other"), "--http-port", port];
    const second = await runCommand(["serve", ...other]);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("--http-port gives another one")]);
  },
);

describe("a domain", () => {
  const domain = "runnel.example.test";
  const flagsOf = (acme: { directory: string }, ca: string, httpPort: string) => {
    writeFileSync(join(folder, "acme-ca.pem"), ca);
    const acmeFlags = ["--acme-directory", acme.directory, "--acme-cacert", join(folder, "acme-ca.pem")];
    return ["--host", "127.0.0.1", "--domain", domain, "--http-port", httpPort, ...acmeFlags];
  };
  /** Connects as a remote client for whom the name resolves to this machine. */
  const visit = (server: Runnel, path: string, ca: string) =>
    fetch(`https://127.0.0.1:${new URL(server.url).port}${path}`, {
      headers: { host: domain, authorization: `Bearer ${server.keys.test}` },
      redirect: "manual",
      keepalive: false,
      tls: { ca, serverName: domain },
    } as RequestInit);

  test("is served from the start, gets its certificate once the authority agrees, and keeps it", async () => {
    await using acme = await startAcmeServer({ rateLimited: 3600 });
    await using server = await startRunnel({ flags: flagsOf(acme, acme.ca, "0") });
    expect(server.url).toStartWith(`https://${domain}:`);
    expect(server.log()).toContain("rateLimited");
    const own = await visit(server, "/v1/me", server.ca!); // Self-signed until there is another.
    expect([own.status, own.headers.get("strict-transport-security")]).toEqual([200, null]);

    acme.leadTo(server.greeting.http_port);
    Object.assign(acme.mood, { rateLimited: null, badNonces: 2, pendingAnswers: 1 });
    server.signal("SIGHUP");
    const seen = await until(
      () => fingerprintOf(server),
      (fingerprint) => fingerprint === (acme.orders.at(-1)?.chain ? acme.last().fingerprint256 : ""),
    );
    for (const path of ["/v1/me", "/v1/none", "/dashboard", "/"]) {
      const { headers } = await visit(server, path, acme.ca);
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
    }
    acme.mood.rateLimited = 60; // Not requested again, by any client.
    await server.stop();
    await server.restart();
    expect(await fingerprintOf(server)).toBe(seen);
    expect(acme.orders).toHaveLength(1);
  });

  test("keeps its certificate while the authority refuses to renew it", async () => {
    await using acme = await startAcmeServer({ rateLimited: 1, life_ms: 30_000 });
    await using server = await startRunnel({ flags: flagsOf(acme, acme.ca, "0") });
    acme.leadTo(server.greeting.http_port);
    acme.mood.rateLimited = null;
    server.signal("SIGHUP");
    const seen = await until(
      () => fingerprintOf(server),
      (fingerprint) => fingerprint === (acme.orders.at(-1)?.chain ? acme.last().fingerprint256 : ""),
    );
    acme.mood.rateLimited = 3600;
    const failures = server.log().split("no certificate could be obtained").length;
    await until(
      () => server.log().split("no certificate could be obtained").length,
      (now) => now > failures,
    );
    expect(await fingerprintOf(server)).toBe(seen);
    expect((await visit(server, "/v1/me", acme.ca)).status).toBe(200);
    acme.mood.rateLimited = null;
    acme.mood.life_ms = 90 * day_ms;
    server.signal("SIGHUP");
    await until(
      () => fingerprintOf(server),
      (fingerprint) => fingerprint !== seen,
    );
    expect((await visit(server, "/v1/me", acme.ca)).status).toBe(200);
  });

  // Let's Encrypt's own test server: Debian's package "pebble". If it is not installed, the stub above must do.
  test.skipIf(!startPebble.available)("gets a certificate from the test server of Let's Encrypt", async () => {
    await using pebble = await startPebble(folder);
    const flags = flagsOf(pebble, pebble.ca, String(pebble.httpPort));
    flags[flags.indexOf(domain)] = `${domain},www.${domain}`;
    await using server = await startRunnel({ flags });
    expect(server.log()).toContain("a certificate was obtained");
    const socket = await dial(server.url, domain);
    const { subjectaltname, issuer } = socket.getPeerCertificate();
    socket.destroy();
    expect(subjectaltname?.split(", ").sort()).toEqual([`DNS:${domain}`, `DNS:www.${domain}`]);
    expect(issuer.CN).toContain("Pebble");
    expect((await visit(server, "/v1/me", await pebble.root())).status).toBe(200);
  });
});

describe("plain HTTP", () => {
  const plain = (port: number, key: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/v1/me`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      redirect: "manual",
    });

  test("beside a port with TLS is refused, whatever a client claims; a live key in it is revoked, unless it is the last admin key", async () => {
    await using server = await startRunnel({ flags: ["--http-port", "0"] });
    const port: number = server.greeting.http_port;
    const { body: other } = await server.post("/v1/api_keys", { name: "n", scopes: ["run"] }, server.keys.live);
    const claims = { "x-forwarded-proto": "https", forwarded: "proto=https", "x-forwarded-for": "127.0.0.1" };
    for (const key of [server.keys.test, server.keys.live, other.secret]) {
      const answer = await plain(port, key, claims);
      const { error } = (await answer.json()) as Json;
      expect([answer.status, error.code, answer.headers.get("location")]).toEqual([403, "https_required", null]);
      expect(answer.headers.get("strict-transport-security")).toBeNull();
    }
    const { body } = await until(
      () => server.get("/v1/me", other.secret),
      ({ status }) => status === 401,
    );
    expect(body.error).toMatchObject({ code: "key_revoked", details: { reason: "exposed" } });
    expect((await server.get("/v1/me")).status).toBe(200);
    expect((await server.get("/v1/me", server.keys.live)).status).toBe(200);
    expect(keyRows(server).map(({ exposed_at_ms }) => exposed_at_ms !== null)).toEqual([true, true, true]);
    const challenge = await fetch(`http://127.0.0.1:${port}/.well-known/acme-challenge/guessed`);
    expect(challenge.status).toBe(403);
  });

  test("marks a live key without revoking it, if the operator says so", async () => {
    await using server = await startRunnel({ flags: ["--http-port", "0", "--revoke-exposed-keys", "off"] });
    const { body: other } = await server.post("/v1/api_keys", { name: "n", scopes: ["run"] }, server.keys.live);
    const answer = await plain(server.greeting.http_port, other.secret, { "x-forwarded-for": "198.51.100.7" });
    expect(answer.status).toBe(403);
    await until(
      () => keyRows(server).filter(({ exposed_at_ms }) => exposed_at_ms !== null).length,
      (marked) => marked === 1,
    );
    expect((await server.get("/v1/me", other.secret)).status).toBe(200);
  });

  test("to the port with TLS gets no response", async () => {
    await using server = await startRunnel();
    const { promise, resolve } = Promise.withResolvers<string>();
    let answer = "";
    const socket = connectPlain(Number(new URL(server.url).port), "127.0.0.1", () => {
      socket.write(`GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.keys.live}\r\n\r\n`);
    });
    socket.on("data", (bytes) => {
      answer += bytes;
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
    expect(await promise).not.toContain("HTTP/1.1");
  });
});

describe("behind a proxy", () => {
  const ask = (server: Runnel, headers: [string, string][], key = server.keys.test) =>
    fetch(`${server.url}/v1/me`, {
      headers: [["authorization", `Bearer ${key}`], ...headers],
      redirect: "manual",
      keepalive: false,
    });

  test("that is named, its last forwarded values count and no earlier ones", async () => {
    await using server = await startRunnel({ flags: ["--trusted-proxies", "127.0.0.0/8,10.9.0.0/16,2001:db8::/32"] });
    const status = async (...headers: [string, string][]) => (await ask(server, headers)).status;
    expect(await status(["x-forwarded-proto", "http, https"])).toBe(200);
    for (const headers of [
      [],
      [["x-forwarded-proto", "https, http"]],
      [
        ["x-forwarded-proto", "https"],
        ["x-forwarded-proto", "http"],
      ],
      [["forwarded", "proto=https;for=1.2.3.4"]],
      [["x-forwarded-proto", "https;http"]],
      [["x-forwarded-ssl", "on"]],
    ] as [string, string][][])
      expect(await status(...headers)).toBe(403);

    const clients: [string, [string, string][]][] = [
      ["198.51.100.7", [["x-forwarded-for", "1.1.1.1, 198.51.100.7, 10.9.8.7"]]],
      ["2001:db9::7", [["x-forwarded-for", "unknown, [2001:db9::7]:443, 2001:db8::1"]]],
    ];
    for (const [client, headers] of clients) {
      const throttled = async () => (await ask(server, [...headers, https], "sk_test_none")).headers;
      const [before, after] = [await throttled(), await throttled()];
      const left = (from: Headers) => Number(from.get("x-ratelimit-remaining"));
      expect([client, left(after)]).toEqual([client, left(before) - 1]);
      // The same client through another proxy continues its count; its own claims do not make it another client.
      const again = await ask(server, [["x-forwarded-for", `9.9.9.9, ${client}`], https], "sk_test_none");
      expect([client, left(again.headers)]).toEqual([client, left(before) - 2]);
    }
    await ask(server, [["x-forwarded-for", "1.1.1.1, 198.51.100.9:4711"], https]);
    await server.stop();
    expect(keyRows(server).map(({ last_used_ip }) => last_used_ip)).toContain("198.51.100.9");
  });
  const https: [string, string] = ["x-forwarded-proto", "https"];

  test("that is not named, a client is refused whatever it claims, and its key is marked", async () => {
    await using server = await startRunnel({ flags: ["--trusted-proxies", "10.9.0.0/16"] });
    const answer = await ask(server, [https, ["x-forwarded-for", "10.9.0.1"]], server.keys.live);
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([403, "https_required"]);
    await until(
      () => keyRows(server).filter(({ exposed_at_ms }) => exposed_at_ms !== null).length,
      (marked) => marked === 1,
    );
  });
});

function keyRows(server: Runnel): { exposed_at_ms: number | null; last_used_ip: string | null }[] {
  const db = new Database(join(server.dataDir, "runnel.db"), { readonly: true });
  try {
    return db.query("SELECT exposed_at_ms, last_used_ip FROM api_keys").all() as ReturnType<typeof keyRows>;
  } finally {
    db.close();
  }
}

function ask(socket: TLSSocket, request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = "";
  socket.on("data", (bytes: Buffer) => {
    answer += bytes;
  });
  socket.on("close", () => resolve(answer));
  socket.write(request);
  return promise;
}
