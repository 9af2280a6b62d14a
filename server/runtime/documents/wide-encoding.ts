const sampleBytes = 65_536;
const wide = ["utf-32le", "utf-32be", "utf-16le", "utf-16be"] as const;
/** Encodings with two or four bytes for each ASCII letter. */
export type WideEncoding = (typeof wide)[number];

/** Returns the encoding of a byte order mark, or null. */
export function markedEncoding(bytes: Uint8Array): WideEncoding | "utf-8" | null {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 && bytes.length >= 8 ? "utf-32le" : "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? "utf-32be" : null;
}

/** Returns the encoding of text without mark whose ASCII characters have zero bytes beside them, or null. */
export function wideEncodingOf(bytes: Uint8Array): WideEncoding | null {
  const sample = bytes.subarray(0, sampleBytes);
  if (!sample.includes(0) || isAsciiWithZeros(sample)) return null;
  for (const encoding of [asUtf32(sample), asUtf16(sample)])
    if (encoding !== null && isText(decodeWide(sample.subarray(0, sample.length & ~3 || sample.length), encoding)))
      return encoding;
  return null;
}

/** True for ASCII with a few zero bytes, as programs leave them in the place of an empty value. */
function isAsciiWithZeros(bytes: Uint8Array): boolean {
  let zeros = 0;
  for (const byte of bytes) {
    if (byte === 0) zeros++;
    else if (!isAscii(byte)) return false;
  }
  return zeros < 0.4 * bytes.length;
}

/** Decodes UTF-16 or UTF-32. A byte order mark is removed. */
export function decodeWide(bytes: Uint8Array, encoding: WideEncoding): string {
  if (!encoding.startsWith("utf-32")) return new TextDecoder(encoding as Bun.Encoding).decode(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const code = at + 4 > bytes.length ? 0xfffd : view.getUint32(at, encoding === "utf-32le");
    if (at === 0 && code === 0xfeff) continue;
    pieces.push(code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? "\ufffd" : String.fromCodePoint(code));
  }
  return pieces.join("");
}

/** Every group of four bytes has a code point, of which two bytes at most are not zero. */
function asUtf32(bytes: Uint8Array): WideEncoding | null {
  const groups = Math.floor(bytes.length / 4);
  if (groups === 0) return null;
  let [little, big] = [0, 0];
  for (let at = 0; at + 3 < bytes.length; at += 4) {
    if (bytes[at + 3] === 0 && (bytes[at + 2] ?? 0) <= 0x10) little++;
    if (bytes[at] === 0 && (bytes[at + 1] ?? 0) <= 0x10) big++;
  }
  if (little < groups && big < groups) return null;
  return little === groups ? "utf-32le" : "utf-32be";
}

/** Text in any script has spaces, line ends or digits, which show the order of the bytes. */
function asUtf16(bytes: Uint8Array): WideEncoding | null {
  let [little, big] = [0, 0];
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    if (bytes[at + 1] === 0 && isAscii(bytes[at])) little++;
    if (bytes[at] === 0 && isAscii(bytes[at + 1])) big++;
  }
  if (little === big) return null;
  return little > big ? "utf-16le" : "utf-16be";
}

const isAscii = (byte = 0): boolean => (byte > 31 && byte < 127) || (byte > 8 && byte < 14);

/** True if nearly all characters are letters, digits, signs and spaces. */
function isText(text: string): boolean {
  const strange = text.match(/[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\t\n\r\ufeff]/gu)?.length ?? 0;
  return strange + (text.match(/\ufffd/g)?.length ?? 0) <= text.length / 50;
}
