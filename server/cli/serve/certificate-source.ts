import { statSync } from "node:fs";
import { createCertificateRenewer } from "../../lib/acme/certificate-renewer.ts";
import { type Certificate, ownCertificate, readAuthorities, readCertificate } from "../../lib/certificate.ts";
import type { Log } from "../../lib/log.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import type { CertificateFiles, DomainPlan, ListenPlan } from "./listen-plan.ts";

/** Source of a listener's certificate, at the start and for renewals. */
export interface CertificateSource {
  /** Certificate that the listener opens with. */
  first: Certificate;
  /** Calls `use` with every newer certificate. Resolves after the first attempt to get one that is needed at once. */
  start(use: (certificate: Certificate) => void): Promise<void>;
  /** Checks for a newer certificate now. */
  look(): void;
  /** Returns the ACME challenge response for a token; null if the token is unknown. */
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

/** Reads the operator's files. Throws with the setting's name if no server could start with them. */
export const readTlsFiles = ({ cert, key }: CertificateFiles): Certificate =>
  readCertificate(cert, key, { cert: `--tls-cert ${cert}`, key: `--tls-key ${key}` });

/** Reads the CA that verifies the ACME directory; null for a directory with a public certificate. */
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

/**
 * Starts with a stored certificate, or a self-signed one until the first is issued: clients do not trust it, but the
 * server runs.
 */
async function domainSource(
  { domains, directory, email, cacert }: DomainPlan,
  dir: DataDir,
  log: Log,
): Promise<CertificateSource> {
  const ca = readAcmeCacert({ cacert });
  const renewer = createCertificateRenewer({ domains, directory, email, ca, folder: dir.tls, log });
  return { ...renewer, first: renewer.first ?? (await ownCertificate(dir.tls, domains[0])) };
}

const checkEvery_ms = 3000;

/** Reads the operator's certificate, and again when the files change. An invalid pair keeps the previous one. */
function watchFiles(files: CertificateFiles, log: Log) {
  const { cert, key } = files;
  const stamp = () => `${stampOf(cert)} ${stampOf(key)}`;
  let lastStamp = stamp();
  const first = readTlsFiles(files);
  let [used, use]: [string, (certificate: Certificate) => void] = [first.cert + first.key, () => {}];
  let pending: string | null = null;

  /** Uses the current files. */
  function look(): void {
    lastStamp = stamp();
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

  // A pair does not match between the writes of its two files, so a change is read only at the next check.
  function check(): void {
    const now = stamp();
    if (now === lastStamp) return;
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

/** Returns a fingerprint of a file. Follows links, because renewal tools often replace one. */
function stampOf(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  return status ? `${status.ino}:${status.mtimeMs}:${status.size}` : "none";
}

function readUsable(files: CertificateFiles): Certificate {
  const certificate = readTlsFiles(files);
  if (certificate.expires_at_ms < Date.now()) throw new Error("It has expired.");
  return certificate;
}
