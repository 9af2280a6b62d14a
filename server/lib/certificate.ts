import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describeFsError } from "./describe-fs-error.ts";
import { parseAddress } from "./ip-address.ts";
import { replaceFile } from "./replace-file.ts";
import { createKeys, ecdsa, loadX509, namesExtension, privatePem } from "./x509.ts";

/**
 * Certificate of a TLS listener. `path` is the certificate's file, which clients of a self-signed one need in order to
 * trust it.
 */
export interface Certificate {
  cert: string;
  key: string;
  path: string;
  self_signed: boolean;
  valid_from_ms: number;
  expires_at_ms: number;
}

const day_ms = 86_400_000;
const validFor_ms = 397 * day_ms; // Browsers refuse longer ones.
const renewBefore_ms = 30 * day_ms;

class CertificateUnusable extends Error {
  override name = "CertificateUnusable";
}

/**
 * Reads the operator's certificate. Throws if it does not match the key. `names` are the settings' names for errors.
 */
export function readCertificate(
  certPath: string,
  keyPath: string,
  names = { cert: certPath, key: keyPath },
): Certificate {
  const [cert, key] = [readText(certPath, names.cert), readText(keyPath, names.key)];
  const parsed = readable(names.cert, "no certificate", () => new X509Certificate(cert));
  if (!parsed.checkPrivateKey(readable(names.key, "no key that can be used", () => createPrivateKey(key))))
    throw new CertificateUnusable(`The certificate ${names.cert} does not belong to the key ${names.key}.`);
  return toCertificate(cert, key, certPath);
}

/** Reads the certificates of authorities. Throws if the file does not begin with one. */
export function readAuthorities(path: string, name: string): string {
  const text = readText(path, name);
  readable(name, "no certificate", () => new X509Certificate(text));
  return text;
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new CertificateUnusable(`${name} cannot be read: ${describeFsError(path, cause)}`, { cause });
  }
}

/** Parses, and replaces errors of OpenSSL, which name neither the file nor the fault. */
function readable<T>(name: string, lacks: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new CertificateUnusable(`${name} holds ${lacks} in PEM form.`, { cause });
  }
}

/** Returns the self-signed certificate in `folder`. Creates a new one near its expiry or for another host. */
export async function ownCertificate(folder: string, host: string, now = Date.now()): Promise<Certificate> {
  const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const hosts = hostsOf(host);
  const kept = readKept(certPath, keyPath);
  if (kept && kept.expires_at_ms - now > renewBefore_ms && covers(kept.cert, hosts)) return kept;
  const { cert, key } = await selfSigned(hosts, { now, valid_ms: validFor_ms });
  replaceFile(keyPath, key, 0o600);
  replaceFile(certPath, cert, 0o644);
  return toCertificate(cert, key, certPath);
}

/** Reads the dates and the issuer of a certificate; in a chain the first certificate counts. */
export function toCertificate(cert: string, key: string, path: string): Certificate {
  const parsed = new X509Certificate(cert);
  return {
    cert,
    key,
    path,
    self_signed: parsed.issuer === parsed.subject,
    valid_from_ms: parsed.validFromDate.getTime(),
    expires_at_ms: parsed.validToDate.getTime(),
  };
}

// A crash between the two writes leaves a pair that does not match: treated as none.
function readKept(certPath: string, keyPath: string): Certificate | null {
  if (!existsSync(certPath) || !existsSync(keyPath)) return null;
  try {
    return readCertificate(certPath, keyPath);
  } catch {
    return null;
  }
}

function hostsOf(host: string): string[] {
  const own = host === "0.0.0.0" || host === "::" ? hostname() : host;
  return [...new Set(["localhost", "127.0.0.1", "::1", own])];
}

/** True if the certificate is valid for all of these names and addresses. */
export function covers(cert: string, hosts: readonly string[]): boolean {
  const parsed = new X509Certificate(cert);
  return hosts.every((host) => (parseAddress(host) ? parsed.checkIP(host) : parsed.checkHost(host)) !== undefined);
}

/**
 * Creates a self-signed certificate for these names, which only clients trust that were given it. Valid for ten years
 * by default.
 */
export async function selfSigned(
  hosts: readonly string[],
  { now = Date.now(), valid_ms = 3650 * day_ms } = {},
): Promise<{ cert: string; key: string }> {
  const x509 = await loadX509();
  const keys = await createKeys();
  const from = now - day_ms; // The client's clock may be behind.
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=runnel",
    keys,
    signingAlgorithm: ecdsa,
    notBefore: new Date(from),
    notAfter: new Date(from + valid_ms),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true), // Trusting it trusts this server only.
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      await namesExtension(hosts),
    ],
  });
  return { cert: `${cert.toString("pem")}\n`, key: privatePem(keys.privateKey) };
}
