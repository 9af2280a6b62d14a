import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { der, identifiers, namesExtension, sequence, signed } from "../der.ts";

/** A fresh key, and the request to certify it for some names. */
interface SigningRequest {
  /** PKCS#8, PEM. */
  key: string;
  /** PKCS#10, DER. */
  csr: Buffer;
}

/** Each certificate gets a key of its own: one that leaked is of no use after the next renewal. */
export function createSigningRequest(domains: readonly string[]): SigningRequest {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const content = requestContent(publicKey, domains);
  const key = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  return { key, csr: signed(content, sign("sha256", content, privateKey)) };
}

// RFC 2986, section 4.1: version 0, an empty subject (the names alone count), the key, and one attribute, in which the
// certificate's extensions are asked for.
function requestContent(publicKey: KeyObject, domains: readonly string[]): Buffer {
  const extensions = sequence(namesExtension(domains));
  const attribute = sequence(identifiers.extensionRequest, der(0x31, extensions));
  const spki = publicKey.export({ type: "spki", format: "der" });
  return sequence(der(0x02, Buffer.of(0)), sequence(), spki, der(0xa0, attribute));
}
