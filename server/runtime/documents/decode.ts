import { unreadable } from "./document-error.ts";

/** Decodes text: by its byte order mark, else as UTF-8, else as `charset` (named by the document) or Windows-1252. */
export function decodeText(bytes: Uint8Array, charset = "windows-1252"): string {
  const text = cleanText(decode(bytes, charset));
  if (isBinary(bytes)) throw unreadable("This is not text: it contains binary data.");
  return text;
}

function decode(bytes: Uint8Array, charset: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const lossy = new TextDecoder().decode(bytes);
    return isNearlyUtf8(lossy) ? lossy : decodeAs(charset, bytes);
  }
}

/** True if the text is UTF-8 except for a character that was cut off at the end of the file. */
function isNearlyUtf8(lossy: string): boolean {
  let [broken, foreign] = [0, 0];
  for (let at = 0; at < lossy.length; at++) {
    const unit = lossy.charCodeAt(at);
    if (unit === 0xfffd) broken++;
    else if (unit > 127) foreign++;
  }
  return foreign > 20 * broken;
}

/** Decodes bytes in this encoding, or in Windows-1252 if it is unknown. */
export function decodeAs(charset: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset as Bun.Encoding).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252" as Bun.Encoding).decode(bytes);
  }
}

/**
 * Removes what a database, a prompt or a screen cannot hold: control characters and lone surrogates. Line ends become
 * "\n".
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\f\v]/g, "\n")
    .replace(/(?![\n\t])\p{Cc}|\ufeff/gu, "");
}

const sampleBytes = 65_536;

function isBinary(bytes: Uint8Array): boolean {
  const marked = (bytes[0] ?? 0) >= 0xfe && (bytes[1] ?? 0) >= 0xfe;
  if (marked) return false;
  const start = bytes.subarray(0, sampleBytes);
  const controlCount = start.reduce(
    (sum, byte) => sum + (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) ? 1 : 0),
    0,
  );
  return controlCount > start.length / 50;
}
