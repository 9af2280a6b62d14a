import { isDosEncoding } from "./dos-encodings.ts";

const named: Record<number, string> = {
  437: "ibm437",
  850: "ibm850",
  852: "ibm852",
  866: "ibm866",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  1200: "utf-16le",
  1201: "utf-16be",
  10000: "macintosh",
  10007: "x-mac-cyrillic",
  20127: "windows-1252",
  20866: "koi8-r",
  20932: "euc-jp",
  21866: "koi8-u",
  28591: "windows-1252",
  50220: "iso-2022-jp",
  51932: "euc-jp",
  51949: "euc-kr",
  54936: "gb18030",
  65001: "utf-8",
};

/** Names that the Encoding Standard lacks, and that other programs write. */
const aliases: Record<string, string> = {
  ansi: "windows-1252",
  macroman: "macintosh",
  maccyrillic: "x-mac-cyrillic",
  euckr: "euc-kr",
  uhc: "euc-kr",
  euccn: "gbk",
  eucjp: "euc-jp",
  eucjis2004: "euc-jp",
  big5hkscs: "big5",
  iso2022jpms: "iso-2022-jp",
  iso2022jp2: "iso-2022-jp",
};

/** Returns the name of an encoding in the Encoding Standard, or `ibm437`, `ibm850` or `ibm852`; null if it is unknown. */
export function encodingNamed(name: string): string | null {
  const seen = knownNames.get(name);
  if (seen !== undefined) return seen;
  const found = standardNameOf(name);
  if (knownNames.size < 1000) knownNames.set(name, found);
  return found;
}

// RTF names one for each of its letters.
const knownNames = new Map<string, string | null>();

function standardNameOf(name: string): string | null {
  const short = name.trim().toLowerCase();
  const plain = short.replace(/[^a-z0-9]/g, "");
  const [, page] = /^(?:cp|ms|windows|ibm)(\d{3,5})$/.exec(plain) ?? [];
  const [, part] = /^(?:iso)?8859(\d{1,2})$/.exec(plain) ?? [];
  const candidates = [
    short,
    aliases[plain],
    plain.startsWith("shiftjis") ? "shift_jis" : undefined,
    page === undefined ? undefined : encodingOf(Number(page)),
    part === undefined ? undefined : `iso-8859-${part}`,
    plain,
  ];
  for (const candidate of candidates) {
    const known = candidate === undefined ? null : standardName(candidate);
    if (known !== null) return known;
  }
  return null;
}

function standardName(label: string): string | null {
  if (isDosEncoding(label)) return label;
  try {
    return new TextDecoder(label as Bun.Encoding).encoding;
  } catch {
    return null;
  }
}

/** Returns the encoding name of a Windows code page. */
export const encodingOf = (codePage: number): string =>
  named[codePage] ?? (codePage > 28591 && codePage < 28606 ? `iso-8859-${codePage - 28590}` : `windows-${codePage}`);

// Code page by the primary language of a locale; all others use Western European (1252).
const languages: Record<number, number> = {
  1: 1256,
  2: 1251,
  4: 936,
  5: 1250,
  8: 1253,
  13: 1255,
  14: 1250,
  17: 932,
  18: 949,
  21: 1250,
  24: 1250,
  25: 1251,
  26: 1250,
  27: 1250,
  28: 1250,
  30: 874,
  31: 1254,
  34: 1251,
  35: 1251,
  36: 1250,
  37: 1257,
  38: 1257,
  39: 1257,
  41: 1256,
  42: 1258,
  47: 1251,
};
const traditional = [1028, 3076, 5124];

/** Returns the code page that Windows uses for texts without Unicode in this locale. */
export const codePageOf = (locale: number): number =>
  traditional.includes(locale) ? 950 : (languages[locale & 0x3ff] ?? 1252);
