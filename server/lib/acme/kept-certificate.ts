import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type Certificate, covers, toCertificate } from "../certificate.ts";
import { replaceFile } from "../replace-file.ts";
import { AcmeError } from "./client.ts";
import type { Obtained } from "./obtain.ts";

// Chain and key lie in one file: a crash between two would leave a pair that does not fit, and every new order counts
// against the authority's limits.
const keyBlock = /-----BEGIN PRIVATE KEY-----[\s\S]+?-----END PRIVATE KEY-----\n?/;

/** The certificate that was obtained last; null when there is none that can be used now. */
export function readObtained(path: string, now: number): Certificate | null {
  if (!existsSync(path)) return null;
  try {
    const text = readFileSync(path, "utf8");
    const certificate = fitting({ chain: text.replace(keyBlock, ""), key: keyBlock.exec(text)?.[0] ?? "" }, path);
    return certificate.expires_at_ms > now ? certificate : null;
  } catch {
    return null; // Damaged: a new one is ordered.
  }
}

/** Keeps what the authority sent, if it is what was ordered. */
export function keepObtained(path: string, obtained: Obtained, domains: readonly string[]): Certificate {
  const certificate = fitting(obtained, path);
  if (!covers(certificate.cert, domains))
    throw new AcmeError("The authority sent a certificate for other names.", "certificate");
  replaceFile(path, `${obtained.chain.trim()}\n${obtained.key}`, 0o600);
  return certificate;
}

function fitting({ chain, key }: Obtained, path: string): Certificate {
  if (!new X509Certificate(chain).checkPrivateKey(createPrivateKey(key)))
    throw new AcmeError("The authority sent a certificate for another key.", "certificate");
  return toCertificate(chain, key, path);
}
