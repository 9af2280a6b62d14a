import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownCertificate, readCertificate, selfSigned } from "./certificate.ts";

const day = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-tls-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the server's own certificate", () => {
  test("lets a client that trusts its file verify the server by name and by address", async () => {
    const { cert, key } = await ownCertificate(join(folder, "tls"), "127.0.0.1");
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert, key },
      fetch: () => new Response("hello"),
    });
    try {
      for (const host of ["127.0.0.1", "localhost"]) {
        const response = await fetch(`https://${host}:${server.port}`, { tls: { ca: cert }, keepalive: false });
        expect(await response.text()).toBe("hello");
      }
      await expect(fetch(`https://127.0.0.1:${server.port}`, { keepalive: false })).rejects.toThrow();
    } finally {
      await server.stop(true);
    }
  });

  test("is a P-256 certificate for localhost and the host, valid for 397 days, with its key for the owner alone", async () => {
    const { cert, path, self_signed } = await ownCertificate(folder, "box.example");
    const parsed = new X509Certificate(cert);
    expect(self_signed).toBe(true);
    expect(parsed.publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: "prime256v1" });
    expect(parsed.subjectAltName).toContain("DNS:box.example");
    expect(parsed.checkIP("::1")).toBeDefined();
    expect(parsed.ca).toBe(false);
    expect(parsed.validToDate.getTime() - parsed.validFromDate.getTime()).toBe(397 * day);
    expect(statSync(join(path, "../key.pem")).mode & 0o777).toBe(0o600);
  });

  test("stays the same until it is near its end or the host changes", async () => {
    const now = Date.now();
    const first = await ownCertificate(folder, "127.0.0.1", now);
    expect((await ownCertificate(folder, "127.0.0.1", now + 300 * day)).cert).toBe(first.cert);
    const renewed = await ownCertificate(folder, "127.0.0.1", now + 370 * day);
    expect(renewed.cert).not.toBe(first.cert);
    expect((await ownCertificate(folder, "10.1.2.3", now + 371 * day)).cert).not.toBe(renewed.cert);
  });

  test("is created again if a crash left a mismatched pair", async () => {
    const first = await ownCertificate(folder, "127.0.0.1");
    writeFileSync(join(folder, "key.pem"), "half a ke");
    const second = await ownCertificate(folder, "127.0.0.1");
    expect(second.cert).not.toBe(first.cert);
    expect(readCertificate(join(folder, "cert.pem"), join(folder, "key.pem")).cert).toBe(second.cert);
  });
});

test("the error names the file that is no certificate, no key or an encrypted key", async () => {
  const [certPath, keyPath, wrong] = [join(folder, "a.pem"), join(folder, "a.key"), join(folder, "wrong.pem")];
  const { cert, key } = await selfSigned(["localhost"]);
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  const sealed = createPrivateKey(key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" });
  for (const text of ["", "garbage", String(sealed)]) {
    writeFileSync(wrong, text);
    expect(() => readCertificate(certPath, wrong)).toThrow(`${wrong} holds no key that can be used in PEM form.`);
    expect(() => readCertificate(wrong, keyPath)).toThrow(`${wrong} holds no certificate in PEM form.`);
  }
});

test("a certificate with another one's key is refused", async () => {
  await ownCertificate(join(folder, "a"), "127.0.0.1");
  await ownCertificate(join(folder, "b"), "127.0.0.1");
  expect(() => readCertificate(join(folder, "a/cert.pem"), join(folder, "b/key.pem"))).toThrow("does not belong");
});
