import type { Attributes } from "./xml.ts";

/** Letters of the Symbol font, in the order of the Latin alphabet. */
const capital = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const small = "αβχδεφγηιφκλμνοπθρστυϖωξψζ";
const signs: Record<number, string> = {
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
  const place = code & 0xff;
  return letterAt(place) ?? "";
}

const letterAt = (place: number): string | undefined => capital[place - 0x41] ?? small[place - 0x61] ?? signs[place];

/** Returns the character of a byte in the Symbol font; signs and digits of ASCII are the same there. */
export const symbolLetter = (byte: number): string => letterAt(byte) ?? (byte < 0x7f ? String.fromCharCode(byte) : "");
