import { encodingNamed } from "./code-pages.ts";

/** How sure a detected encoding is: `sure` by its form, the others by how well its letters make up words. */
export type Certainty = "sure" | "likely" | "unsure";

interface Guess {
  encoding: string;
  certainty: Certainty;
}

/** Encodings that are detected by their letters, as the detector names them. */
const detected = [
  ..."1250 1251 1252 1253 1254 1255 1256 1257 1258".split(" ").map((page) => `windows-${page}`),
  ..."cp874 koi8-r koi8-u iso-8859-2 iso-8859-5 iso-8859-7".split(" "),
  ..."cp437 cp850 cp852 cp866 mac-roman mac-cyrillic".split(" "),
  ..."gb18030 big5hkscs euc-jp euc_jis_2004 cp932 shift_jis_2004 cp949 euc-kr".split(" "),
];
const sampleBytes = 65_536;
// Below this the detector is right less often than Windows-1252, the encoding of most short texts.
const leastConfidence = 0.06;
const [fewLetters, manyLetters] = [4, 20];

/** Guesses the encoding of text that is not UTF-8. `decode` decodes bytes in an encoding. */
export function guessEncoding(bytes: Uint8Array, decode: (encoding: string, bytes: Uint8Array) => string): Guess {
  const sample = foreignLines(bytes);
  const { letters, run } = foreignLetters(sample);
  const isOdd = (encoding: string) => countOdd(decode(encoding, sample)) > letters / 10;
  const candidates = detector()
    .detectAll(sample, { detectEncodings: detected, minimumThreshold: 0 })
    .flatMap(({ encoding, confidence }) => ({ encoding: encodingNamed(encoding ?? "") ?? western, confidence }));
  const best = candidates.find((one) => !isOdd(one.encoding)) ?? candidates[0] ?? none;
  const { encoding, confidence } =
    letters < manyLetters && central.has(best.encoding) ? westernIfClose(best, candidates) : best;
  // Words of another script have their letters in a row; in a Latin text they stand between those of ASCII.
  if (confidence < leastConfidence && run < 3 && !isOdd(western)) return { encoding: western, certainty: "unsure" };
  if (confidence < leastConfidence || letters < fewLetters) return { encoding, certainty: "unsure" };
  return { encoding, certainty: letters < manyLetters ? "likely" : "sure" };
}

const western = "windows-1252";
/** Latin letters of Central Europe, of which a few tell little. */
const central = new Set(["windows-1250", "iso-8859-2", "ibm852"]);

/** Returns the guess of Western Europe if it is nearly as good as this one: more texts are in its languages. */
const westernIfClose = <T extends { encoding: string; confidence: number }>(best: T, candidates: readonly T[]): T =>
  candidates.find((one) => one.encoding === western && one.confidence > 0.8 * best.confidence) ?? best;

const none = { encoding: western, confidence: 0 };

const word = String.raw`[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]`;
const otherScript = String.raw`[\p{Script=Greek}\p{Script=Cyrillic}]`;
/**
 * Control characters, signs within a word, capitals behind small letters, and words of two scripts, as a wrong encoding
 * has them.
 */
const odd = new RegExp(
  String.raw`[\x80-\x84\x86-\x9f\ufffd]|(?<=${word})[^\0-\x7f\p{L}\p{M}\p{N}\s’‘·‐‑–—…\xad](?=${word})|(?<=\p{Ll})(?![A-Z])\p{Lu}|(?<=\p{Script=Latin})${otherScript}|${otherScript}(?=\p{Script=Latin})`,
  "gu",
);

const countOdd = (text: string): number => text.match(odd)?.length ?? 0;

/** Loads the detector, which a text seldom needs: with its tables it takes 75 MB and an eighth of a second. */
export const detector = () => require("jschardet") as typeof import("jschardet");

/** Returns the lines with bytes beyond ASCII, as many as the detector needs. No encoding here has line ends in letters. */
function foreignLines(bytes: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < bytes.length && size < sampleBytes; ) {
    const first = nextForeign(bytes, at);
    if (first === bytes.length) break;
    const start = Math.max(at, bytes.lastIndexOf(10, first) + 1, first - sampleBytes / 2);
    const end = bytes.indexOf(10, first) + 1 || bytes.length;
    lines.push(bytes.subarray(start, Math.min(end, start + sampleBytes - size)));
    size += lines.at(-1)?.length ?? 0;
    at = end;
  }
  return Buffer.concat(lines);
}

function nextForeign(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) < 128) at++;
  return at;
}

/** Counts the bytes beyond ASCII, and how many stand in a row at most. */
function foreignLetters(bytes: Uint8Array): { letters: number; run: number } {
  let [letters, run, current] = [0, 0, 0];
  for (const byte of bytes) {
    current = byte < 128 ? 0 : current + 1;
    letters += byte < 128 ? 0 : 1;
    run = Math.max(run, current);
  }
  return { letters, run };
}

/** Returns ISO-2022-JP if text of 7 bits switches its letters with the escape sequences of Japanese, else null. */
export function escapedEncoding(bytes: Uint8Array): "iso-2022-jp" | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isJapanese = ["\x1b$B", "\x1b$@"].some((sign) => buffer.includes(sign, 0, "latin1"));
  return isJapanese && nextForeign(bytes, 0) === bytes.length ? "iso-2022-jp" : null;
}
