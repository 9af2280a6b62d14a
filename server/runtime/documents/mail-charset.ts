import { isAscii, isUtf8 } from "node:buffer";
import { encodingOf, encodingNamed as nameInFiles } from "./code-pages.ts";
import { decodeAs } from "./decode.ts";
import { markedEncoding, wideEncodingOf } from "./wide-encoding.ts";

/** Text of a part with the encoding in which it was read. */
export interface DecodedText {
  text: string;
  encoding: string;
  /** True if some bytes are none of this encoding. */
  hasErrors: boolean;
}

// Programs declare these without looking at the text.
const careless = /^(?:us-ascii|ascii|utf-8|windows-1252|unknown|unknown-8bit|x-unknown|default|none|8bit|binary)$/;

const asciiName = /^["']?(?:us-)?ascii\b/i;

const aliases: Record<string, string> = {
  "iso-8859-8-i": "iso-8859-8",
  "iso-8859-8-e": "iso-8859-8",
  "shift-jis": "shift_jis",
  "x-shift-jis": "shift_jis",
  ms_kanji: "shift_jis",
  "windows-31j": "shift_jis",
  "iso-2022-jp-1": "iso-2022-jp",
  "iso-2022-jp-2": "iso-2022-jp",
  "iso-2022-jp-3": "iso-2022-jp",
  "iso-2022-jp-ms": "iso-2022-jp",
  eucjp: "euc-jp",
  euckr: "euc-kr",
  uhc: "euc-kr",
  "ks_c_5601-1987": "euc-kr",
  "x-gbk": "gbk",
  gb2312: "gbk",
  "gb_2312-80": "gbk",
  "cn-gb": "gbk",
  "tis-620": "windows-874",
  "utf-16": "utf-16",
  "unicode-1-1-utf-7": "utf-7",
  utf7: "utf-7",
  utf8mb4: "utf-8",
  "hz-gb-2312": "hz",
};

/** Encodings that the runtime has no decoder for; each becomes one that it has. */
const own: Record<string, (bytes: Uint8Array) => string> = {
  "utf-7": decodeUtf7,
  hz: decodeHz,
  "iso-2022-kr": decodeIso2022Kr,
};

/** Returns the name of the encoding that a message declares, or null if it is unknown. */
export function encodingNamed(declared: string): string | null {
  const label = declared
    .trim()
    .toLowerCase()
    .replace(/\*.*$/, "")
    .replace(/^["']|["']$/g, "");
  const known = Object.hasOwn(aliases, label) ? aliases[label] : undefined;
  const page = /^(?:x-)?(?:cp|windows|ms|ibm|x-cp)-?_?(\d{3,5})$/.exec(label)?.[1];
  for (const name of [known, label, page && encodingOf(Number(page)), label.replace(/^(?:x-|cs)/, ""), latin(label)]) {
    if (!name) continue;
    if (Object.hasOwn(own, name)) return name;
    try {
      return new TextDecoder(name as Bun.Encoding).encoding;
    } catch {
      // Not this one.
    }
  }
  return nameInFiles(label);
}

/** Returns "iso-8859-2" for "iso8859_2" and the like. */
const latin = (label: string): string => label.replace(/^iso[-_ ]?8859[-_ ]?(\d+).*$/, "iso-8859-$1");

/**
 * Decodes text in the encoding that the message declares. Bytes win over a declaration that programs make without
 * looking at the text. Returns null if the encoding is better detected.
 */
export function decodeDeclared(bytes: Uint8Array, declared: string | undefined): DecodedText | null {
  const escaped = isAscii(bytes) ? escapesOf(bytes) : null;
  if (escaped !== null) return decodeIn(escaped, bytes);
  const name = declared === undefined ? null : (encodingNamed(declared) ?? declared.toLowerCase());
  if (name === null || careless.test(name)) {
    if (isUtf8(bytes)) return decodeIn("utf-8", bytes);
    // Bytes beyond ASCII show that its declaration is wrong.
    const isOther = asciiName.test(declared ?? "");
    return name === "windows-1252" && !isOther ? decodeIn(name, bytes) : null;
  }
  // The name does not tell the order of the bytes, or whether the text was changed on its way.
  if (name.startsWith("utf-16") && isAscii(bytes) && !bytes.includes(0)) return decodeIn("utf-8", bytes);
  if (name.startsWith("utf-16")) return decodeIn(markedEncoding(bytes) ?? wideEncodingOf(bytes) ?? name, bytes);
  if (encodingNamed(name) === null) return isUtf8(bytes) ? decodeIn("utf-8", bytes) : null;
  if (eastAsian.has(name) && isSurelyUtf8(bytes)) return decodeIn("utf-8", bytes);
  const found = decodeIn(name, bytes);
  if (!found.hasErrors) return found;
  // GB2312 is declared for text of its supersets.
  const wider = name === "gbk" ? decodeIn("gb18030", bytes) : found;
  if (!wider.hasErrors) return wider;
  return isUtf8(bytes) ? decodeIn("utf-8", bytes) : isMostlyRight(found.text) ? found : null;
}

export function decodeIn(name: string, bytes: Uint8Array): DecodedText {
  const text = Object.hasOwn(own, name) ? (own[name] as (bytes: Uint8Array) => string)(bytes) : decodeAs(name, bytes);
  return { text, encoding: name, hasErrors: text.includes("\ufffd") };
}

const eastAsian = new Set(["gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis"]);

/**
 * True for UTF-8 that no text in an East Asian encoding is by chance: its pairs of bytes can be letters of two bytes,
 * but hardly those of three.
 */
const isSurelyUtf8 = (bytes: Uint8Array): boolean =>
  isUtf8(bytes) && /[\u0800-\uffff]/.test(new TextDecoder().decode(bytes));

/** True if few characters are broken. */
const isMostlyRight = (text: string): boolean => 20 * (text.split("\ufffd").length - 1) <= text.length;

const escapeSign = "\x1b";
const koreanMark = `${escapeSign}$)C`;
const japaneseMarks = ["$@", "$B", "$(D", "(I", "(J"].map((mark) => escapeSign + mark);
const [shiftOut, shiftIn] = ["\x0e", "\x0f"];

/** Returns the encoding whose escape sequences are in the text, or null. Its bytes are ASCII. */
function escapesOf(bytes: Uint8Array): string | null {
  if (!bytes.includes(0x1b)) return null;
  const text = Buffer.from(bytes).toString("latin1");
  if (text.includes(koreanMark)) return "iso-2022-kr";
  return japaneseMarks.some((mark) => text.includes(mark)) ? "iso-2022-jp" : null;
}

/** Decodes UTF-7 (RFC 2152): UTF-16 in Base64 between "+" and "-". */
function decodeUtf7(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replace(/\+([A-Za-z0-9+/]*)-?/g, (_, coded: string) =>
      coded === "" ? "+" : new TextDecoder("utf-16be").decode(evenPart(Buffer.from(coded, "base64"))),
    );
}

const evenPart = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length & ~1);

/** Decodes HZ (RFC 1843): GB2312 without its high bits between "~{" and "~}". */
function decodeHz(bytes: Uint8Array): string {
  const parts = Buffer.from(bytes)
    .toString("latin1")
    .split(/(~\{.*?(?:~\}|$))/ms);
  const text = parts.map((part) =>
    part.startsWith("~{") ? highBits(part.slice(2).replace(/~\}$/, "")) : Buffer.from(part, "latin1"),
  );
  return new TextDecoder("gbk" as Bun.Encoding)
    .decode(Buffer.concat(text))
    .replace(/~(?:\r?\n)/g, "")
    .replaceAll("~~", "~");
}

/** Decodes ISO-2022-KR: KS X 1001 without its high bits between shift out and shift in. */
function decodeIso2022Kr(bytes: Uint8Array): string {
  const pieces = Buffer.from(bytes).toString("latin1").replaceAll(koreanMark, "").split(shiftOut);
  const text = pieces.flatMap((piece, index) => {
    const end = index === 0 ? 0 : piece.includes(shiftIn) ? piece.indexOf(shiftIn) : piece.length;
    return [highBits(piece.slice(0, end)), Buffer.from(piece.slice(end).replaceAll(shiftIn, ""), "latin1")];
  });
  return new TextDecoder("euc-kr" as Bun.Encoding).decode(Buffer.concat(text));
}

const highBits = (text: string): Buffer =>
  Buffer.from(text, "latin1").map((byte) => (byte > 0x20 && byte < 0x7f ? byte | 0x80 : byte)) as Buffer;

/** Its length has a limit, because a header can have many that do not end. */
const encodedWord = /=\?([\w.:+()-]{1,60}(?:\*[\w-]{0,60})?)\?([QB])\?(.{0,2000}?)\?=/gi;

/**
 * Decodes the encoded words of a header (RFC 2047). Neighbours in one encoding are decoded together, because programs
 * split characters between them.
 */
export function decodeEncodedWords(value: string): string {
  let [text, end] = ["", 0];
  let run: { charset: string; bytes: Buffer[] } | null = null;
  const flush = () => {
    if (run) text += decodeWord(Buffer.concat(run.bytes), run.charset);
    run = null;
  };
  for (const match of value.matchAll(encodedWord)) {
    const [whole, charset = "", kind = "", coded = ""] = match;
    const between = value.slice(end, match.index);
    const isNeighbour = end > 0 && /^\s*$/.test(between);
    if (!isNeighbour) {
      flush();
      text += between;
    } else if (run && (run as { charset: string }).charset !== charset.toLowerCase()) flush();
    run ??= { charset: charset.toLowerCase(), bytes: [] };
    (run as { bytes: Buffer[] }).bytes.push(
      kind.toUpperCase() === "B" ? Buffer.from(coded, "base64") : quotedBytes(coded),
    );
    end = match.index + whole.length;
  }
  flush();
  return text + value.slice(end);
}

const quotedBytes = (coded: string): Buffer => {
  const bytes = Buffer.from(coded.replaceAll("_", " "));
  return Buffer.from(
    bytes
      .toString("latin1")
      .replace(/=\s*([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
};

function decodeWord(bytes: Uint8Array, charset: string): string {
  const found = decodeDeclared(bytes, charset);
  return found?.text ?? new TextDecoder("windows-1252" as Bun.Encoding).decode(bytes);
}
