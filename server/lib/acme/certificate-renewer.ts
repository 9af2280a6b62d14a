import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Certificate, covers, toCertificate } from "../certificate.ts";
import type { Log } from "../log.ts";
import { replaceFile } from "../replace-file.ts";
import { sleep } from "../retry.ts";
import { openAccountKey } from "./account-key.ts";
import { type IssuedCertificate, orderCertificate } from "./certificate-order.ts";
import { AcmeError, openAcmeClient } from "./client.ts";

interface DomainsOptions {
  domains: readonly string[];
  /** URL of the authority's directory. Each authority has its own account and certificate in `folder`. */
  directory: string;
  email: string | null;
  /** PEM of the authority that signed the directory's own certificate, for a private certificate authority. */
  ca: string | null;
  folder: string;
  log: Log;
  now?: () => number;
}

/** Renews the certificate of some domains before it expires. */
export interface CertificateRenewer {
  /** Certificate of an earlier start. */
  first: Certificate | null;
  /** Returns the response to a check of the authority, or null for an unknown token. */
  answer(token: string): string | null;
  /** Starts, and passes on each new certificate. Resolves when the first attempt that was due has ended. */
  start(use: (certificate: Certificate) => void): Promise<void>;
  /** Retries at once after a failure. */
  look(): void;
  stop(): void;
}

const longestNap_ms = 3_600_000; // Upper bound of one sleep: timers stop while a machine sleeps, so renewal is late by this at most.

const folderOf = ({ folder, directory }: Pick<DomainsOptions, "folder" | "directory">): string =>
  join(folder, directory.replace(/^https:\/\//, "").replaceAll(/[^\w.-]+/g, "-"));

/** Returns the certificate for these domains that an earlier start obtained, or null if none is valid now. */
export function storedCertificate(
  { domains, ...place }: Pick<DomainsOptions, "domains" | "folder" | "directory">,
  now: number,
): Certificate | null {
  const kept = readObtained(join(folderOf(place), "certificate.pem"), now);
  return kept && covers(kept.cert, domains) ? kept : null;
}

export function createCertificateRenewer(options: DomainsOptions): CertificateRenewer {
  const { domains, directory, log, now = Date.now } = options;
  const folder = folderOf(options);
  const path = join(folder, "certificate.pem");
  const challenges = new Map<string, string>();
  const closing = new AbortController();
  const first = readObtained(path, now());
  const { signal } = closing;
  let nap = new AbortController();
  let due = first && covers(first.cert, domains) ? renewAt(first) : now();
  let failures = 0;

  async function order(): Promise<Certificate> {
    const key = await openAccountKey(join(folder, "account.pem"));
    const client = await openAcmeClient({ ...options, key, signal, now });
    return keepObtained(path, await orderCertificate({ client, key, domains, challenges, signal, now }), domains);
  }

  async function sleepUntil(time: number): Promise<void> {
    while (now() < time && !signal.aborted && !nap.signal.aborted)
      await sleep(Math.min(time - now(), longestNap_ms), AbortSignal.any([signal, nap.signal]));
    nap = new AbortController();
  }

  async function keep(use: (certificate: Certificate) => void, tried: () => void): Promise<void> {
    for (; !signal.aborted; tried()) {
      await sleepUntil(due);
      if (signal.aborted) break;
      try {
        const certificate = await order();
        [failures, due] = [0, renewAt(certificate)];
        log.info("a certificate was obtained", { domains, ...datesOf(certificate), renewal_at: iso(due) });
        use(certificate);
      } catch (error) {
        if (signal.aborted) break;
        due = now() + waitAfter(++failures, error);
        log.error("no certificate could be obtained", {
          domains,
          directory,
          ...reasonOf(error),
          next_try_at: iso(due),
        });
      }
    }
  }

  return {
    first,
    answer: (token) => challenges.get(token) ?? null,
    start(use) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (due > now()) resolve();
      void keep(use, resolve);
      return promise;
    },
    look: () => {
      if (failures > 0) nap.abort();
    },
    stop: () => closing.abort(),
  };
}

const iso = (time: number): string => new Date(time).toISOString();

const datesOf = ({ cert, expires_at_ms }: Certificate) => ({
  fingerprint: new X509Certificate(cert).fingerprint256,
  expires_at: iso(expires_at_ms),
});

const reasonOf = (error: unknown) => ({ reason: error instanceof Error ? error.message : String(error) });

// Chain and key share one file: a crash between two files would leave a pair that does not match, and every new order
// counts against the authority's limits.
const keyBlock = /-----BEGIN PRIVATE KEY-----[\s\S]+?-----END PRIVATE KEY-----\n?/;

/** Returns the certificate that was obtained last, or null if it is unusable or expired. */
function readObtained(path: string, now: number): Certificate | null {
  if (!existsSync(path)) return null;
  try {
    const text = readFileSync(path, "utf8");
    const certificate = fitting({ chain: text.replace(keyBlock, ""), key: keyBlock.exec(text)?.[0] ?? "" }, path);
    return certificate.expires_at_ms > now ? certificate : null;
  } catch {
    return null; // A damaged certificate is ordered again.
  }
}

/** Stores the authority's certificate. Throws `AcmeError` if it is for other names than ordered. */
function keepObtained(path: string, obtained: IssuedCertificate, domains: readonly string[]): Certificate {
  const certificate = fitting(obtained, path);
  if (!covers(certificate.cert, domains))
    throw new AcmeError("The authority sent a certificate for other names.", "certificate");
  replaceFile(path, `${obtained.chain.trim()}\n${obtained.key}`, 0o600);
  return certificate;
}

function fitting({ chain, key }: IssuedCertificate, path: string): Certificate {
  if (!new X509Certificate(chain).checkPrivateKey(createPrivateKey(key)))
    throw new AcmeError("The authority sent a certificate for another key.", "certificate");
  return toCertificate(chain, key, path);
}

const minute_ms = 60_000;
const unreachedWait_ms = minute_ms / 2;
const refusedWait_ms = 5 * minute_ms; // Authorities limit failed checks: Let's Encrypt allows five an hour for a name.
const longestWait_ms = 6 * 60 * minute_ms;

/**
 * Returns the time of renewal: two thirds of the lifetime, minus up to a twentieth, so that servers that failed
 * together do not renew in the same minute for ever.
 */
export function renewAt({ valid_from_ms, expires_at_ms }: Certificate, random = Math.random()): number {
  const life_ms = expires_at_ms - valid_from_ms;
  return Math.round(valid_from_ms + life_ms * (2 / 3 - random / 20));
}

/**
 * Returns the delay in milliseconds after this number of failures in a row (from 1): it doubles, or is longer if the
 * authority asks.
 */
export function waitAfter(failures: number, error: unknown, random = Math.random()): number {
  const answered = error instanceof AcmeError;
  const doubled = (answered ? refusedWait_ms : unreachedWait_ms) * 2 ** (failures - 1);
  return Math.max(answered ? (error.retryAfter_ms ?? 0) : 0, Math.min(doubled, longestWait_ms) * (1 + random / 4));
}
