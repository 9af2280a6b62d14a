import type { Attributes } from "./xml.ts";

/** Letters of the Symbol font, in the order of the Latin alphabet. */
const capital = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const small = "αβχδεφγηιφκλμνοπθρστυϖωξψζ";
/** Signs that differ from those of ASCII, and others. */
const signs: Record<number, string> = {
  34: "∀",
  36: "∃",
  39: "∋",
  42: "∗",
  45: "−",
  64: "≅",
  92: "∴",
  94: "⊥",
  163: "≤",
  165: "∞",
  174: "→",
  176: "°",
  177: "±",
  179: "≥",
  180: "×",
  183: "·",
  184: "÷",
  185: "≠",
  187: "≈",
};

/** Returns the character of a Word symbol (font and code); empty if it is a picture, as in Wingdings. */
export function symbolText(attribute: Attributes): string {
  const code = Number.parseInt(attribute("char") ?? "", 16);
  if (!(code > 0x1f && code <= 0xffff)) return "";
  // Symbol fonts use the private use area.
  if (code < 0xe000 || code > 0xf8ff) return String.fromCharCode(code).toWellFormed();
  if (!/^symbol$/i.test(attribute("font") ?? "")) return "";
  return symbolLetter(code);
}

/** Returns the character of a code of the Symbol font; empty if it is a piece of a larger sign. */
export function symbolLetter(code: number): string {
  const place = code & 0xff;
  const sign = signs[place] ?? capital[place - 0x41] ?? small[place - 0x61];
  return sign ?? (place >= 0x20 && place < 0x7f ? String.fromCharCode(place) : "");
}
