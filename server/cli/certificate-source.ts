import { readFileSync } from "node:fs";
import type { DataDir } from "../db/data-dir.ts";
import { keepDomains } from "../lib/acme/keep-domains.ts";
import { type Certificate, ownCertificate } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import type { CertificateFiles, DomainPlan, ListenPlan } from "./listen-plan.ts";
import { watchFiles } from "./watch-files.ts";

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
  const timer = setInterval(() => look(), checkOwnEvery_ms);
  timer.unref();
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
  const ca = cacert === null ? null : readFileSync(cacert, "utf8");
  const kept = keepDomains({ domains, directory, email, ca, folder: dir.tls, log });
  return { ...kept, first: kept.first ?? (await ownCertificate(dir.tls, domains[0])) };
}
