/** Encodes one value in DER, the encoding of certificates: tag, length, content. */
export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

export const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);

/** Object identifiers, encoded. */
export const identifiers = {
  ecdsaWithSha256: Buffer.from("06082a8648ce3d040302", "hex"),
  extensionRequest: Buffer.from("06092a864886f70d01090e", "hex"),
  subjectAltName: Buffer.from("0603551d11", "hex"),
} as const;

/** Encodes the names of a certificate as the extension `subjectAltName`. */
export function namesExtension(domains: readonly string[]): Buffer {
  const names = sequence(...domains.map((name) => der(0x82, Buffer.from(name, "ascii"))));
  return sequence(identifiers.subjectAltName, der(0x04, names));
}

/** Encodes signed content, the algorithm and the signature: the form of certificates and of signing requests. */
export const signed = (content: Buffer, signature: Buffer): Buffer =>
  sequence(content, sequence(identifiers.ecdsaWithSha256), der(0x03, Buffer.of(0), signature));
