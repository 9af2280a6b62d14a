import type { Attributes } from "./xml.ts";

/** The letters of the font Symbol, in the places of the Latin ones. */
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

/** What a character says that Word keeps by its number in a font; empty where it is a picture, as those of Wingdings. */
export function symbolText(attribute: Attributes): string {
  const code = Number.parseInt(attribute("char") ?? "", 16);
  if (!(code > 0x1f && code <= 0xffff)) return "";
  // Fonts of symbols have theirs in the private area.
  if (code < 0xe000 || code > 0xf8ff) return String.fromCharCode(code).toWellFormed();
  if (!/^symbol$/i.test(attribute("font") ?? "")) return "";
  const place = code & 0xff;
  return capital[place - 0x41] ?? small[place - 0x61] ?? signs[place] ?? "";
}
