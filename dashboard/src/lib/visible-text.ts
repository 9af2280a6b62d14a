/**
 * Characters that are always invisible: controls, bidirectional marks, zero-width spaces, tags. Not the soft hyphen,
 * which is visible where it has an effect.
 */
const alwaysInvisible =
  "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u200b\\u200e\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
/** Adds characters that may belong to the preceding one: joiners and variation selectors. */
const invisible = `${alwaysInvisible}\\u180b-\\u180f\\u200c\\u200d\\ufe00-\\ufe0f`;

/** Matches characters that are invisible in any context. */
export const hiddenCharacter = new RegExp(`[${alwaysInvisible}]`, "gu");

const picture = "\\p{Extended_Pictographic}[\\u{1f3fb}-\\u{1f3ff}]?\\ufe0f?";
/** Legitimate sequences: emoji and letter shapes. */
const legitimateSequences = [
  `${picture}(?:\\u200d(?:${picture}|$))+`,
  "\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{1,6}\\u{e007f}",
  "[\\p{So}\\p{Sm}\\p{Sk}\\p{Po}\\p{Nd}\\p{Extended_Pictographic}\\p{Script=Han}\\p{Script=Myanmar}][\\ufe00-\\ufe0f]",
  "\\p{Script=Han}[\\u{e0100}-\\u{e01ef}]",
  "\\p{Script=Mongolian}[\\u180b-\\u180f]",
  `[^\\P{L}\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Han}](?:(?![${invisible}])\\p{M})*[\\u200c\\u200d]`,
];

const anyHidden = new RegExp(`[${invisible}]`, "u");
const pieces = new RegExp(`${legitimateSequences.join("|")}|[${invisible}]+`, "gu");
const allHidden = new RegExp(`^[${invisible}]+$`, "u");

/**
 * Replaces invisible characters by names such as ‹U+202E›, so that text from other people cannot reorder or hide text
 * around it, or make two names look alike.
 */
export function visibleText(text: string): string {
  return anyHidden.test(text)
    ? text.replace(pieces, (piece) => (isHidden(piece) ? nameCharacters(piece) : piece))
    : text;
}

/** Names the invisible characters of a field's text; undefined if there are none. */
export function hiddenHint(text: unknown): string | undefined {
  if (typeof text !== "string" || !anyHidden.test(text)) return undefined;
  const found = new Set([...text.matchAll(pieces)].map(([piece]) => piece).filter(isHidden));
  const sample = [...found].slice(0, 3).map(nameCharacters).join(" ");
  return sample && `Contains characters that are not visible: ${sample}`;
}

/** True for invisible characters; legitimate joiners and emoji are matched as whole pieces and stay. */
function isHidden(piece: string): boolean {
  return allHidden.test(piece);
}

/** Formats the names of invisible characters. */
export function nameCharacters(run: string): string {
  const [first = "", ...others] = [...run].map(
    (char) => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
  );
  return others.length < 3
    ? [first, ...others].map((name) => `‹${name}›`).join("")
    : `‹${first} and ${others.length} more›`;
}
