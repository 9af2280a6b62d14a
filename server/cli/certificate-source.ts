import { statSync } from "node:fs";
import type { DataDir } from "../db/data-dir.ts";
import { keepDomains } from "../lib/acme/keep-domains.ts";
import { type Certificate, ownCertificate, readAuthorities, readCertificate } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import type { CertificateFiles, DomainPlan, ListenPlan } from "./listen-plan.ts";

/** Where a listener's certificate comes from, at the start and later. */
export interface CertificateSource {
  /** What the listener opens with. */
  first: Certificate;
  /** Tells of every newer one. Settles when what is needed at once has been tried. */
  start(use: (certificate: Certificate) => void): Promise<void>;
  /** Looks for a newer one now. */
  look(): void;
  /** What a certificate authority wants to read for its token; null for a token that is nobody's. */
  answer(token: string): string | null;
  stop(): void;
}

export async function openCertificate(
  { tls, host }: ListenPlan,
  dir: DataDir,
  log: Log,
): Promise<CertificateSource | null> {
  if (tls === null) return null;
  if (tls === "own") return await ownSource(dir, host, log);
  return "cert" in tls ? fileSource(tls, log) : await domainSource(tls, dir, log);
}

/** Reads the operator's files; throws for what no server starts with, and names the setting. */
export const readTlsFiles = ({ cert, key }: CertificateFiles): Certificate =>
  readCertificate(cert, key, { cert: `--tls-cert ${cert}`, key: `--tls-key ${key}` });

/** Reads what verifies the directory of a domain's authority; null for an authority that everybody knows. */
export const readAcmeCacert = ({ cacert }: Pick<DomainPlan, "cacert">): string | null =>
  cacert === null ? null : readAuthorities(cacert, `--acme-cacert ${cacert}`);

const noChallenge = () => null;

function fileSource(files: CertificateFiles, log: Log): CertificateSource {
  const watched = watchFiles(files, log);
  if (watched.first.expires_at_ms < Date.now()) log.warn("the certificate has expired", { path: watched.first.path });
  return { ...watched, answer: noChallenge };
}

const checkOwnEvery_ms = 3_600_000;

async function ownSource(dir: DataDir, host: string, log: Log): Promise<CertificateSource> {
  const first = await ownCertificate(dir.tls, host);
  let current = first;
  let look = () => {};
  const timer = setInterval(() => look(), checkOwnEvery_ms).unref();
  return {
    first,
    async start(use) {
      look = () =>
        void ownCertificate(dir.tls, host)
          .then((certificate) => {
            if (certificate.cert === current.cert) return;
            current = certificate;
            log.info("the server's own certificate was renewed", { path: certificate.path });
            use(certificate);
          })
          .catch((error) => log.error("the server's own certificate could not be renewed", { error }));
    },
    look: () => look(),
    answer: noChallenge,
    stop: () => clearInterval(timer),
  };
}

/** The certificate of an earlier start, or until there is one a self-signed one: nobody trusts it, but all else runs. */
async function domainSource(
  { domains, directory, email, cacert }: DomainPlan,
  dir: DataDir,
  log: Log,
): Promise<CertificateSource> {
  const ca = readAcmeCacert({ cacert });
  const kept = keepDomains({ domains, directory, email, ca, folder: dir.tls, log });
  return { ...kept, first: kept.first ?? (await ownCertificate(dir.tls, domains[0])) };
}

const checkEvery_ms = 3000;

/** Reads the operator's certificate, and again when the files have changed. A pair of no use leaves the last one. */
function watchFiles(files: CertificateFiles, log: Log) {
  const { cert, key } = files;
  const stamp = () => `${stampOf(cert)} ${stampOf(key)}`;
  let seen = stamp();
  const first = readTlsFiles(files);
  let [used, use]: [string, (certificate: Certificate) => void] = [first.cert + first.key, () => {}];
  let pending: string | null = null;

  /** Takes the pair that is there now. */
  function look(): void {
    seen = stamp();
    pending = null;
    try {
      const certificate = readUsable(files);
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

  const timer = setInterval(check, checkEvery_ms).unref();
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

function readUsable(files: CertificateFiles): Certificate {
  const certificate = readTlsFiles(files);
  if (certificate.expires_at_ms < Date.now()) throw new Error("It has expired.");
  return certificate;
}
