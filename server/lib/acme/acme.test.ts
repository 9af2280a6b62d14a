import { afterEach, beforeEach, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAcmeServer } from "../../testing/acme-server.ts";
import { createCertificateAuthority } from "../../testing/certificate-authority.ts";
import { type Certificate, toCertificate } from "../certificate.ts";
import { createLog } from "../log.ts";
import { type CertificateRenewer, createCertificateRenewer, renewAt, waitAfter } from "./certificate-renewer.ts";
import { AcmeError } from "./client.ts";

const day_ms = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-acme-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The server's side: the renewer, and the plain port that the authority checks. */
function startKeeper(
  acme: Awaited<ReturnType<typeof startAcmeServer>>,
  {
    domains = ["a.example.com"],
    now,
    answers = true,
  }: { domains?: string[]; now?: () => number; answers?: boolean } = {},
) {
  const lines: string[] = [];
  const certificates: Certificate[] = [];
  let kept: CertificateRenewer;
  const port = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const file = answers ? kept.answer(request.url.split("/").at(-1)!) : null;
      return file === null ? new Response("no", { status: 403 }) : new Response(file);
    },
  });
  acme.leadTo(port.port!);
  let told = Promise.withResolvers<void>();
  const write = (line: string) => {
    lines.push(line);
    told.resolve();
  };
  kept = createCertificateRenewer({
    domains,
    directory: acme.directory,
    email: "ops@example.com",
    ca: acme.ca,
    folder,
    log: createLog({ format: "json", write }),
    now,
  });
  return {
    ...kept,
    lines,
    certificates,
    start: () => kept.start((certificate) => certificates.push(certificate)),
    /** Waits for the next log line. */
    async line() {
      if (lines.length === 0) await told.promise;
      told = Promise.withResolvers();
      return JSON.parse(lines.shift()!);
    },
    async [Symbol.asyncDispose]() {
      kept.stop();
      await port.stop(true);
    },
  };
}

const fileOf = (name: string): string => join(folder, readdirSync(folder)[0]!, name);

test("a certificate for all domains is ordered, proven, stored for the owner alone, and used by the next start", async () => {
  await using acme = await startAcmeServer();
  const domains = ["a.example.com", "b.example.com"];
  {
    await using keeper = startKeeper(acme, { domains });
    expect(keeper.first).toBeNull();
    await keeper.start();
    const [certificate] = keeper.certificates;
    const leaf = new X509Certificate(certificate!.cert);
    expect(leaf.fingerprint256).toBe(acme.last().fingerprint256);
    expect(leaf.verify(new X509Certificate(acme.ca).publicKey)).toBe(true);
    expect(certificate!.cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(domains.map((name) => leaf.checkHost(name))).toEqual(domains);
    for (const name of ["account.pem", "certificate.pem"]) expect(statSync(fileOf(name)).mode & 0o777).toBe(0o600);
    for (const token of acme.tokens) expect(keeper.answer(token)).toBeNull();
  }
  const asked = acme.seen.length;
  await using next = startKeeper(acme, { domains });
  await next.start();
  expect(next.first!.cert).toContain(acme.last().toString().trim());
  expect([acme.seen.length, acme.orders.length, next.certificates.length]).toEqual([asked, 1, 0]);
});

test("expired nonces are replaced, and unfinished orders are polled", async () => {
  await using acme = await startAcmeServer({ badNonces: 7, pendingAnswers: 3 });
  await using keeper = startKeeper(acme);
  await keeper.start();
  expect(keeper.certificates).toHaveLength(1);
  expect(acme.seen.filter((line) => line === "POST /account")).toHaveLength(8);
  expect(acme.seen.filter((line) => line.startsWith("POST /authorization/")).length).toBeGreaterThan(4);
});

test("a proven name is not proven again, and the account stays the same", async () => {
  await using acme = await startAcmeServer({ life_ms: 3 * day_ms });
  let now = Date.now();
  await using first = startKeeper(acme, { now: () => now });
  await first.start();
  first.stop();
  now += 2.5 * day_ms; // Past two thirds of its life.
  await using second = startKeeper(acme, { now: () => now });
  await second.start();
  expect(second.first).not.toBeNull();
  expect(second.certificates).toHaveLength(1);
  expect([acme.accounts.size, acme.orders.length]).toEqual([1, 2]);
  expect(acme.seen.filter((line) => line.startsWith("POST /challenge/"))).toHaveLength(1);
  const [old, renewed] = [first.certificates[0]!, second.certificates[0]!];
  expect(renewed.key).not.toBe(old.key);
});

test("another list of domains causes a new order; the old certificate serves until then", async () => {
  await using acme = await startAcmeServer();
  await using first = startKeeper(acme);
  await first.start();
  await using second = startKeeper(acme, { domains: ["a.example.com", "b.example.com"] });
  expect(second.first!.cert).toBe(first.certificates[0]!.cert);
  await second.start();
  expect(new X509Certificate(second.certificates[0]!.cert).checkHost("b.example.com")).toBeDefined();
});

const failures: [string, Parameters<typeof startAcmeServer>[0], boolean, string][] = [
  ["the limit is reached", { rateLimited: 7200 }, true, "rateLimited: Too many orders."],
  ["the order fails", { failOrders: true }, true, "the order is invalid: This name is on a list."],
  ["the name does not lead here", {}, false, "a.example.com is invalid: a.example.com does not lead here: status 403"],
  ["no nonce ever counts", { badNonces: 1000 }, true, "badNonce: This nonce does not count."],
  [
    "the certificate is for another key",
    { instead: (await (await createCertificateAuthority()).issue({ names: ["a.example.com"] })).cert },
    true,
    "The authority sent a certificate for another key.",
  ],
];
test.each(failures)(
  "on %s the log has the reason and nothing is stored; the next attempt retries",
  async (_, mood, answers, reason) => {
    await using acme = await startAcmeServer(mood);
    await using keeper = startKeeper(acme, { answers });
    await keeper.start();
    const said = await keeper.line();
    expect(said).toMatchObject({ level: "error", message: "no certificate could be obtained", reason });
    const wait_ms = Date.parse(said.next_try_at) - Date.parse(said.time);
    expect(wait_ms).toBeWithin(mood?.rateLimited ? 7_190_000 : 290_000, mood?.rateLimited ? 7_210_000 : 380_000);
    expect(keeper.certificates).toEqual([]);
    expect(existsSync(fileOf("certificate.pem"))).toBe(false);
    const asked = acme.seen.length;
    keeper.look();
    expect((await keeper.line()).reason).toBe(reason);
    expect(acme.seen.length).toBeGreaterThan(asked);
  },
);

test("a look at a valid certificate sends no request", async () => {
  await using acme = await startAcmeServer();
  await using keeper = startKeeper(acme);
  await keeper.start();
  const asked = acme.seen.length;
  keeper.look();
  await Bun.sleep(0);
  expect(acme.seen.length).toBe(asked);
});

test("a damaged certificate is ordered again; a damaged account key is never replaced", async () => {
  await using acme = await startAcmeServer();
  await using first = startKeeper(acme);
  await first.start();
  writeFileSync(fileOf("certificate.pem"), readFileSync(fileOf("certificate.pem"), "utf8").slice(0, -40));
  await using second = startKeeper(acme);
  expect(second.first).toBeNull();
  await second.start();
  expect(second.certificates).toHaveLength(1);
  rmSync(fileOf("certificate.pem"));
  writeFileSync(fileOf("account.pem"), "half a ke");
  await using third = startKeeper(acme);
  await third.start();
  expect((await third.line()).level).toBe("error");
  expect(readFileSync(fileOf("account.pem"), "utf8")).toBe("half a ke");
});

test("an authority with an untrusted certificate gets no request", async () => {
  await using acme = await startAcmeServer();
  const { ca } = await createCertificateAuthority();
  await using keeper = startKeeper({ ...acme, ca });
  await keeper.start();
  expect((await keeper.line()).level).toBe("error");
  expect(acme.seen).toEqual([]);
});

test("renewal happens between 61 and 67 percent of a certificate's lifetime", async () => {
  const { issue } = await createCertificateAuthority();
  const { cert, key } = await issue({ names: ["a.example.com"], from: 0, to: 90 * day_ms });
  const certificate = toCertificate(cert, key, "");
  expect(renewAt(certificate, 0)).toBe(60 * day_ms);
  expect(renewAt(certificate, 1)).toBe(55.5 * day_ms);
});

test("the delay after failures grows up to some hours, and is at least the requested one", () => {
  const no = new AcmeError("no", "malformed");
  const minutes = (failures: number, error: unknown) => waitAfter(failures, error, 0) / 60_000;
  expect([1, 2, 3, 4, 9].map((failures) => minutes(failures, no))).toEqual([5, 10, 20, 40, 360]);
  expect([1, 2, 3].map((failures) => minutes(failures, new Error("no network")))).toEqual([0.5, 1, 2]);
  expect(minutes(1, new AcmeError("no", "rateLimited", 3_600_000))).toBe(60);
  expect(waitAfter(1, no, 1)).toBe(375_000);
});
