import { Constructed, fromBER, ObjectIdentifier, OctetString } from "asn1js";
import { DocumentError, unreadable } from "./document-error.ts";

const [dataType, signedType, envelopedType, compressedType] = [
  "1.2.840.113549.1.7.1",
  "1.2.840.113549.1.7.2",
  "1.2.840.113549.1.7.3",
  "1.2.840.113549.1.9.16.1.9",
];

/**
 * Returns the message inside an S/MIME file (CMS, RFC 5652) that is signed. The signature is not verified. Throws
 * document_encrypted if it is encrypted.
 */
export function signedContent(bytes: Uint8Array): Uint8Array {
  const [type, outer] = childrenOf(structureOf(withoutArmor(bytes)));
  const kind = type instanceof ObjectIdentifier ? type.valueBlock.toString() : "";
  if (kind === envelopedType) throw new DocumentError("document_encrypted", "It is encrypted with S/MIME.");
  if (kind === compressedType) throw unreadable("It is compressed in a way that is not read.");
  if (kind !== signedType) throw unreadable("It is not a signed message.");
  const parts = childrenOf(childrenOf(outer)[0]);
  for (const part of parts) {
    const [inner, content] = childrenOf(part);
    if (!(inner instanceof ObjectIdentifier) || inner.valueBlock.toString() !== dataType) continue;
    const [text] = childrenOf(content);
    if (text instanceof OctetString) return new Uint8Array(text.getValue());
  }
  throw unreadable("It has a signature only.");
}

function structureOf(bytes: Uint8Array): unknown {
  try {
    const { result, offset } = fromBER(bytes.slice());
    return offset === -1 ? null : result;
  } catch {
    throw unreadable("It is damaged.");
  }
}

const childrenOf = (block: unknown): unknown[] => (block instanceof Constructed ? block.valueBlock.value : []);

function withoutArmor(bytes: Uint8Array): Uint8Array {
  if (bytes[0] === 0x30) return bytes;
  const text = Buffer.from(bytes).toString("latin1");
  return new Uint8Array(Buffer.from(text.replace(/-----[^-]+-----/g, ""), "base64"));
}
