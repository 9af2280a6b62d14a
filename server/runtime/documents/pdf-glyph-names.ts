import type { getDocumentProxy } from "unpdf";
import type { PdfItem } from "./pdf-item.ts";
import { symbolLetter } from "./symbol-letters.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** Properties of a font as PDF.js gives them. */
interface Font {
  name?: string;
  /** Names of glyphs by their codes. */
  differences?: Record<number, string | undefined>;
}

/** Codes that no text has. A glyph has its code as its text if PDF.js does not know its name. */
export const nonsense = /(?![\t\n\r])\p{Cc}|[\ufffd\p{Co}\p{Cn}]/gu;

/** The same without the bullets of symbol fonts, which many documents have, and which are worth no time. */
const unknown =
  /(?![\t\n\r\uf06c\uf06e\uf06f\uf071\uf075\uf076\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc\uf0fe])[\p{Cc}\ufffd\p{Co}\p{Cn}]/u;

export const hasNonsense = (text: string): boolean => unknown.test(text);

/** Private codes that are no letters: pieces of large brackets, and small capitals and digits, which have usual ones. */
const bracketPieces = /[\uf8e5-\uf8fe]/g;
const smallCapitals = /[\uf730-\uf739\uf761-\uf77a]/g;

/**
 * Finds letters by the names of their glyphs: PDF.js knows `one`, and neither `one.oldstyle` nor `parenleftBig`. A font
 * is looked up once, because PDF.js tells of fonts only when it prepares a page for drawing.
 */
export function openGlyphNames() {
  cloneNamesAlone();
  const fonts = new Map<string, Font | null>();
  async function learn(page: Page, ids: ReadonlySet<string>): Promise<void> {
    if ([...ids].every((id) => fonts.has(id))) return;
    await page.getOperatorList().catch(() => null);
    for (const id of ids) fonts.set(id, null);
    for (const [id, font] of page.commonObjs as Iterable<[string, Font | null]>) fonts.set(id, font);
  }
  /** Returns the font of an item, and those of its name: PDF.js joins their texts to one item. */
  function fontsOf(id: string): Font[] {
    const own = fonts.get(id);
    if (!own) return [];
    return [own, ...[...fonts.values()].filter((font) => font !== null).filter(({ name }) => name === own.name)];
  }
  return {
    async named(page: Page, items: readonly PdfItem[]): Promise<readonly PdfItem[]> {
      if (!items.some(({ str }) => hasNonsense(str))) return items;
      const usual = items.map((item) => ({ ...item, str: withoutPrivateForms(item.str) }));
      const ids = new Set(usual.flatMap(({ str, fontName = "" }) => (hasNonsense(str) ? [fontName] : [])));
      if (ids.size === 0) return usual;
      await learn(page, ids);
      return usual.map((item) =>
        ids.has(item.fontName ?? "") ? { ...item, str: namedIn(item.str, fontsOf(item.fontName ?? "")) } : item,
      );
    },
  };
}

let isCloning = false;

/**
 * Makes PDF.js send the names of a font's glyphs, and none of its other lists: it clones them, and a list with few
 * entries far apart takes minutes.
 */
function cloneNamesAlone(): void {
  if (isCloning) return;
  isCloning = true;
  const clone = globalThis.structuredClone;
  const cloneNames = ((value: unknown, options?: object) => {
    const { data } = Object(value);
    const font = Array.isArray(data) && data[1] === "Font" ? Object(data[2]) : null;
    if (font?.extra) font.extra = { differences: Object.fromEntries(Object.entries(font.extra.differences ?? {})) };
    return clone(value, options);
  }) as typeof clone;
  globalThis.structuredClone = cloneNames;
}

export type GlyphNames = ReturnType<typeof openGlyphNames>;

const withoutPrivateForms = (text: string): string =>
  text
    .replace(bracketPieces, "")
    .replace(smallCapitals, (form) => String.fromCharCode(form.charCodeAt(0) - 0xf700).toLowerCase());

function namedIn(text: string, fonts: readonly Font[]): string {
  const isSymbol = /symbol/i.test(fonts[0]?.name ?? "");
  return text.replace(nonsense, (letter) => {
    const code = letter.charCodeAt(0);
    if (isSymbol && code >= 0xf020 && code <= 0xf0ff) return symbolLetter(code) || letter;
    return (
      textOfName(fonts.map(({ differences }) => differences?.[code] ?? "").find((name) => name !== "") ?? "") ?? letter
    );
  });
}

/** Returns the text of a glyph: empty for one that is no letter, and null if its name says nothing. */
function textOfName(name: string): string | null {
  const parts = name
    .replace(/(?<=.)\..*/, "")
    .split("_")
    .map(letterOf);
  return parts.includes(null) ? (isTelling(name) ? "" : null) : parts.join("");
}

/** True if a name is a word; others are numbers of glyphs, such as `g18`, `cid:7` and `glyph33`. */
const isTelling = (name: string): boolean => /^[A-Za-z]{4,}$/.test(name) && name !== "notdef";

function letterOf(name: string): string | null {
  if (/^[A-Za-z]$/.test(name)) return name;
  const [, codes] = /^uni((?:[\dA-F]{4})+)$/.exec(name) ?? /^u([\dA-F]{4,6})$/.exec(name) ?? [];
  if (codes) return (codes.length % 4 === 0 ? (codes.match(/.{4}/g) ?? []) : [codes]).map(characterOf).join("");
  if (/^f(f|i|l|fi|fl)$/.test(name)) return name;
  return signs[name.replace(/(?:big|Big|bigg|Bigg|text|display)$/, "")] ?? null;
}

function characterOf(code: string): string {
  const point = Number.parseInt(code, 16);
  return point > 0x10ffff ? "" : String.fromCodePoint(point).toWellFormed();
}

const signs: Record<string, string | undefined> = {
  zero: "0",
  one: "1",
  two: "2",
  three: "3",
  four: "4",
  five: "5",
  six: "6",
  seven: "7",
  eight: "8",
  nine: "9",
  space: " ",
  period: ".",
  comma: ",",
  colon: ":",
  semicolon: ";",
  hyphen: "-",
  slash: "/",
  percent: "%",
  plus: "+",
  minus: "−",
  equal: "=",
  dollar: "$",
  Euro: "€",
  parenleft: "(",
  parenright: ")",
  bracketleft: "[",
  bracketright: "]",
  braceleft: "{",
  braceright: "}",
  radical: "√",
  summation: "∑",
  product: "∏",
  integral: "∫",
  quoteright: "’",
  quotesingle: "'",
  ampersand: "&",
  epsilon1: "ε",
  rho1: "ϱ",
};
