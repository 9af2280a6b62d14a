import { isUtf8 } from "node:buffer";
import { encodingNamed } from "./code-pages.ts";
import { type Certainty, escapedEncoding, guessEncoding } from "./detect-encoding.ts";
import { unreadable } from "./document-error.ts";
import { decodeDos, isDosEncoding } from "./dos-encodings.ts";
import { decodeWide, markedEncoding, type WideEncoding, wideEncodingOf } from "./wide-encoding.ts";

interface Decoded {
  text: string;
  encoding: string;
  /** Null if the encoding is given, declared or UTF-8. */
  guess: Certainty | null;
  /** Number of characters that the encoding does not have, and that "\ufffd" stands for. */
  lost: number;
}

/** Decodes a part of a document, quietly, by the signs of {@link decode}. */
export const decodeText = (bytes: Uint8Array, declared?: string): string => cleanText(decode(bytes, { declared }).text);

/**
 * Decodes text by the encoding that is given, else by the one of its byte order mark, else as UTF-8 if it is that, else
 * by the one that it declares, else by the one that its letters show. Throws if it is no text.
 */
export function decode(bytes: Uint8Array, names: { given?: string | null; declared?: string | undefined }): Decoded {
  const given = names.given ? orderOfMark(names.given, bytes) : null;
  const decoded =
    given === null ? detect(bytes, names.declared) : { text: decodeAs(given, bytes), encoding: given, guess: null };
  if (isBinary(decoded.text)) throw unreadable("This is not text: it contains binary data.");
  return { ...decoded, lost: countLost(bytes, decoded.text) };
}

/** UTF-16 is the name of both orders of its bytes, and the mark says which one it is. */
function orderOfMark(given: string, bytes: Uint8Array): string {
  const mark = markedEncoding(bytes);
  return given.startsWith("utf-16") && mark?.startsWith("utf-16") ? mark : given;
}

function detect(bytes: Uint8Array, declared = ""): Omit<Decoded, "lost"> {
  const read = (encoding: string, guess: Certainty | null = null) => ({
    text: decodeAs(encoding, bytes),
    encoding,
    guess,
  });
  const mark = markedEncoding(bytes);
  if (mark !== null) return read(mark);
  const wide = wideEncodingOf(bytes);
  if (wide !== null) return read(wide, "sure");
  // A page that names UTF-16 in ASCII letters is in another encoding.
  const label = encodingNamed(declared);
  const named = label?.startsWith("utf-") ? null : label;
  const escaped = escapedEncoding(bytes);
  if (escaped !== null) return read(escaped, named === escaped ? null : "sure");
  const utf8 = read("utf-8");
  const isWhole = isUtf8(bytes);
  const isOther = named !== null && isRatherDeclared(bytes, named, utf8.text);
  if (!isOther && (isWhole || isNearlyUtf8(bytes, utf8.text))) return utf8;
  if (isBinary(utf8.text)) return utf8;
  if (named !== null) {
    const asDeclared = read(named);
    if (countSigns(asDeclared.text) <= asDeclared.text.length / 50) return asDeclared;
  }
  const { encoding, certainty } = guessEncoding(bytes, decodeAs);
  return read(encoding, certainty);
}

const pairEncodings = new Set(["gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis"]);

/**
 * True if a declared East Asian text is valid UTF-8 by chance: pairs of its bytes can be letters of the Latin, Greek,
 * Cyrillic, Hebrew or Arabic scripts, but hardly those of East Asia.
 */
function isRatherDeclared(bytes: Uint8Array, declared: string, text: string): boolean {
  if (!pairEncodings.has(declared) || !/[\u0080-\uffff]/.test(text) || /[\u0800-\uffff]/.test(text)) return false;
  return !decodeAs(declared, bytes).includes("\ufffd");
}

/** True if the text is UTF-8 except for a few bytes, or a character that was cut off at the end of the file. */
function isNearlyUtf8(bytes: Uint8Array, lossy: string): boolean {
  const foreign = lossy.match(/[\u0080-\ufffc\ufffe\uffff]/g)?.length ?? 0;
  if (foreign === 0) return false;
  if (foreign >= 4 * countSigns(lossy)) return true;
  const start = bytes.findLastIndex((byte) => byte > 0xc1 && byte < 0xf5);
  const tail = bytes.subarray(start + 1);
  return start >= bytes.length - 3 && tail.every((byte) => byte >> 6 === 2) && isUtf8(bytes.subarray(0, start));
}

/** Counts the characters that were replaced: those that the file itself contains are not lost. */
function countLost(bytes: Uint8Array, text: string): number {
  const signs = countSigns(text);
  return signs === 0 || isUtf8(bytes) ? 0 : signs;
}

const countSigns = (text: string): number => text.match(/\ufffd/g)?.length ?? 0;

/** Decodes bytes in the encoding of this name, or in Windows-1252 if it is unknown. */
export function decodeAs(charset: string, bytes: Uint8Array): string {
  if (/^utf-(?:16|32)[lb]e$/.test(charset)) return decodeWide(bytes, charset as WideEncoding);
  if (isDosEncoding(charset)) return decodeDos(bytes, charset);
  return new TextDecoder((encodingNamed(charset) ?? "windows-1252") as Bun.Encoding).decode(bytes);
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

const sampleLength = 65_536;

/** True if more than one of fifty characters is a control character other than white space and ESC. */
function isBinary(text: string): boolean {
  const end = Math.min(text.length, sampleLength);
  let controls = 0;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 9 || (code > 13 && code < 32 && code !== 27)) controls++;
  }
  return controls > end / 50;
}
