import { statSync } from "node:fs";
import { type Certificate, readCertificate } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import type { CertificateFiles } from "./listen-plan.ts";

const checkEvery_ms = 3000;

/** Reads the operator's certificate, and again when the files have changed. A pair of no use leaves the last one. */
export function watchFiles({ cert, key }: CertificateFiles, log: Log, every_ms = checkEvery_ms) {
  const stamp = () => `${stampOf(cert)} ${stampOf(key)}`;
  let seen = stamp();
  const first = readCertificate(cert, key);
  let [used, use]: [string, (certificate: Certificate) => void] = [first.cert + first.key, () => {}];
  let pending: string | null = null;

  /** Takes the pair that is there now. */
  function look(): void {
    seen = stamp();
    pending = null;
    try {
      const certificate = readUsable(cert, key);
      if (certificate.cert + certificate.key === used) return;
      used = certificate.cert + certificate.key;
      log.info("the certificate was renewed", {
        path: cert,
        expires_at: new Date(certificate.expires_at_ms).toISOString(),
      });
      use(certificate);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error("the certificate on disk is of no use; the one before stays", { path: cert, reason });
    }
  }

  // Between the writing of two files they do not fit: what has just changed is given the time until the next check.
  function check(): void {
    const now = stamp();
    if (now === seen) return;
    if (now === pending) look();
    else pending = now;
  }

  const timer = setInterval(check, every_ms);
  timer.unref();
  return {
    first,
    async start(to: (certificate: Certificate) => void): Promise<void> {
      use = to;
    },
    look,
    stop: () => clearInterval(timer),
  };
}

/** Follows links: renewal tools often swap one. */
function stampOf(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  return status ? `${status.ino}:${status.mtimeMs}:${status.size}` : "none";
}

function readUsable(cert: string, key: string): Certificate {
  const certificate = readCertificate(cert, key);
  if (certificate.expires_at_ms < Date.now()) throw new Error("It has expired.");
  return certificate;
}
