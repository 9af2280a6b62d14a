import type { PublicKeyType } from "@peculiar/x509";
import { createKeys, ecdsa, loadX509, namesExtension, privatePem } from "../lib/x509.ts";

const day_ms = 86_400_000;

interface IssueOptions {
  /** Names and addresses. */
  names: readonly string[];
  from?: number;
  to?: number;
}

/** Creates an authority that only clients trust that are given its certificate. */
export async function createCertificateAuthority() {
  const { BasicConstraintsExtension, X509CertificateGenerator } = await loadX509();
  const keys = await createKeys();
  const issuer = "CN=Test authority";
  const root = await X509CertificateGenerator.createSelfSigned({
    name: issuer,
    keys,
    signingAlgorithm: ecdsa,
    notBefore: new Date(Date.now() - day_ms),
    notAfter: new Date(Date.now() + 3650 * day_ms),
    extensions: [new BasicConstraintsExtension(true)],
  });

  /** Certifies a public key. */
  async function certify(
    publicKey: PublicKeyType,
    { names, from = Date.now() - day_ms, to = Date.now() + 90 * day_ms }: IssueOptions,
  ): Promise<string> {
    const certificate = await X509CertificateGenerator.create({
      issuer,
      publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ecdsa,
      notBefore: new Date(from),
      notAfter: new Date(to),
      extensions: [await namesExtension(names)],
    });
    return `${certificate.toString("pem")}\n`;
  }

  return {
    /** The authority's own certificate, PEM. */
    ca: `${root.toString("pem")}\n`,
    certify,
    /** Returns a new key and its certificate, PEM. */
    async issue(options: IssueOptions): Promise<{ cert: string; key: string }> {
      const { publicKey, privateKey } = await createKeys();
      return { cert: await certify(publicKey, options), key: privatePem(privateKey) };
    },
  };
}
