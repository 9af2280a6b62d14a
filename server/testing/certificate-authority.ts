import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { sequence } from "../lib/der.ts";
import { commonName, extensions, makeCertificate } from "../lib/x509.ts";

const day_ms = 86_400_000;

interface IssueOptions {
  /** Names and IPv4 addresses. */
  names: readonly string[];
  from?: number;
  to?: number;
}

/** Authority that only clients trust that are given its certificate. */
export type CertificateAuthority = ReturnType<typeof createCertificateAuthority>;

export function createCertificateAuthority() {
  const root = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [from, to] = [Date.now() - day_ms, Date.now() + 3650 * day_ms];
  const issuer = commonName("Test authority");
  const ca = makeCertificate(root.privateKey, {
    issuer,
    subject: issuer,
    publicKey: root.publicKey,
    from,
    to,
    extensions: [extensions.authority],
  });

  /** Certifies a public key. */
  function certify(
    publicKey: KeyObject,
    { names, from = Date.now() - day_ms, to = Date.now() + 90 * day_ms }: IssueOptions,
  ) {
    const its = { issuer, subject: sequence(), publicKey, from, to, extensions: [extensions.names(names)] };
    return makeCertificate(root.privateKey, its);
  }

  return {
    /** The authority's own certificate, PEM. */
    ca,
    certify,
    /** Returns a new key and its certificate, PEM. */
    issue(options: IssueOptions): { cert: string; key: string } {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      return { cert: certify(publicKey, options), key: String(privateKey.export({ type: "pkcs8", format: "pem" })) };
    },
  };
}
