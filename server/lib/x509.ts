import { type KeyObject, randomBytes, sign } from "node:crypto";
import { der, identifiers, sequence, signed } from "./der.ts";
import { parseAddress } from "./ip-address.ts";

// Written by hand, because @peculiar/x509 is 20 packages with a changed Reflect and adds 120 ms to the first start
// instead of 15. Tests verify the certificates with TLS clients.

interface CertificateContent {
  /** Distinguished names, in DER. */
  issuer: Buffer;
  subject: Buffer;
  publicKey: KeyObject;
  /** Milliseconds since the epoch, before 2050. */
  from: number;
  to: number;
  /** DER, from `extension`. */
  extensions: readonly Buffer[];
}

/** Creates a certificate signed by a P-256 key, PEM (RFC 5280, section 4.1). */
export function makeCertificate(issuerKey: KeyObject, content: CertificateContent): string {
  const { issuer, subject, publicKey, from, to, extensions } = content;
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // Version 3.
    der(0x02, Buffer.of(1), randomBytes(8)),
    sequence(identifiers.ecdsaWithSha256),
    issuer,
    sequence(time(from), time(to)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const text = signed(unsigned, sign("sha256", unsigned, issuerKey)).toString("base64");
  const lines = text.match(/.{1,64}/g)!;
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/** Distinguished name with only a common name. */
export const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from(name)))));

/** An extension by object identifier, in hex. A client that does not know a critical one rejects the certificate. */
const extension = (id: string, value: Buffer, { critical = false } = {}): Buffer =>
  sequence(objectId(id), ...(critical ? [yes] : []), der(0x04, value));

const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const yes = der(0x01, Buffer.of(0xff));

/** Certificate extensions. */
export const extensions = {
  /** Certificate authority. */
  authority: extension("551d13", sequence(yes)),
  /** Not a certificate authority: trusting it trusts this server only. */
  noAuthority: extension("551d13", sequence(), { critical: true }),
  /** The key may only sign. */
  digitalSignature: extension("551d0f", der(0x03, Buffer.of(7, 0x80)), { critical: true }),
  serverAuth: extension("551d25", sequence(objectId("2b06010505070301"))),
  /** Names and addresses of the certificate. */
  names: (names: readonly string[]): Buffer => extension("551d11", sequence(...names.map(nameOf))),
};

function nameOf(name: string): Buffer {
  const address = parseAddress(name);
  if (!address) return der(0x82, Buffer.from(name));
  return der(0x87, Buffer.from(address.value.toString(16).padStart(address.family === 6 ? 32 : 8, "0"), "hex"));
}

/** Encodes a UTCTime, which ends in 2049. */
const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`));
