import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { der, identifiers, sequence, signed } from "../lib/der.ts";
import { parseAddress } from "../lib/ip-address.ts";

const day_ms = 86_400_000;

interface IssueOptions {
  /** Names and IPv4 addresses. */
  names: readonly string[];
  from?: number;
  to?: number;
}

/** An authority whose certificates nobody trusts but who is given its own. */
export type CertificateAuthority = ReturnType<typeof createCertificateAuthority>;

export function createCertificateAuthority() {
  const root = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [from, to] = [Date.now() - day_ms, Date.now() + 3650 * day_ms];
  const ca = makeCertificate(root.privateKey, root.publicKey, { subject: authority, from, to, extension: isAuthority });

  /** Certifies a key that somebody else has. */
  function certify(
    publicKey: KeyObject,
    { names, from = Date.now() - day_ms, to = Date.now() + 90 * day_ms }: IssueOptions,
  ) {
    const extension = extensionOf("551d11", sequence(...names.map(nameOf)));
    return makeCertificate(root.privateKey, publicKey, { subject: sequence(), from, to, extension });
  }

  return {
    /** Its own certificate, PEM. */
    ca,
    certify,
    /** A fresh key and its certificate, PEM. */
    issue(options: IssueOptions): { cert: string; key: string } {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      return { cert: certify(publicKey, options), key: String(privateKey.export({ type: "pkcs8", format: "pem" })) };
    },
  };
}

interface Content {
  subject: Buffer;
  from: number;
  to: number;
  extension: Buffer;
}

function makeCertificate(
  issuerKey: KeyObject,
  publicKey: KeyObject,
  { subject, from, to, extension }: Content,
): string {
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1), randomBytes(8)),
    sequence(identifiers.ecdsaWithSha256),
    authority,
    sequence(time(from), time(to)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension)),
  );
  const text = signed(content, sign("sha256", content, issuerKey)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));

const extensionOf = (id: string, value: Buffer): Buffer => sequence(objectId(id), der(0x04, value));

const authority = sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from("Test authority")))));
const isAuthority = extensionOf("551d13", sequence(der(0x01, Buffer.of(0xff))));

const nameOf = (name: string): Buffer =>
  parseAddress(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));

/** UTCTime, which ends in 2049. */
const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`));
